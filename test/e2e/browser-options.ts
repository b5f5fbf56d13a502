/** How Chromium is started: headless, without anything that would ask the network for something. */
export const browserOptions = (executablePath: string) => ({
  executablePath,
  args: [
    ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
    ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
  ],
});
