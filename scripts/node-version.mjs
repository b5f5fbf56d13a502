/**
 * Stops with one clear line when Node is too old. Plain JavaScript that old versions can read: `node --import` loads it
 * before anything else, so the line comes instead of a complaint about TypeScript files.
 */
const needed = [24, 16];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `Holdfast needs Node ${needed.join(".")} or newer and this is ${process.versions.node}. ` +
      "Run it through npm after `npm install`, which brings its own Node: `npm start`, `npm test`, `npm run …`.",
  );
  process.exit(1);
}
