// Throws if Node is too old. Entry points import this module first: the database addon needs Node-API 10, and an older
// Node would crash on the addon without a message. Bun and Deno have versions of their own.
const { bun, deno, napi, node } = process.versions
if (!bun && !deno && Number(napi) < 10) {
  throw new Error(`Skillstead needs Node 22.14 or later; this is Node ${node}.`)
}
