import { scanFiles } from './scan.ts'

/** How much text is looked at, which takes some 8 ms; what lies behind it is not. */
const textBytesMax = 256 * 1024
/** Where a NUL makes a file none of text. */
const binaryBytesMax = 8000

/** The security score of a package's text files, SKILL.md first. It is made anew each time, for nothing keeps it yet. */
export function scorePackage(files: readonly { path: string; bytes: Uint8Array }[], now: number): number {
  const texts: { path: string; text: string }[] = []
  let room = textBytesMax
  for (const { path, bytes } of files) {
    if (path !== 'SKILL.md' && bytes.subarray(0, binaryBytesMax).includes(0)) continue
    const seen = bytes.subarray(0, room)
    texts.push({ path, text: new TextDecoder().decode(seen) })
    room -= seen.length
    if (room === 0) break
  }
  return scanFiles(texts, now).score
}
