/** How much of a file tells whether it is text. */
const sampleBytes = 64 * 1024
/** A share of the units of a text in UTF-16 that have a zero byte: letters, spaces and line ends of Latin scripts. */
const utf16ZerosMin = 0.05
/** Texts in one encoding hardly ever hold so much plain ASCII when they are read in another. */
const asciiRun = /[\t\n\r -~]{16}/

/**
 * The texts that bytes may be read as: UTF-8, with a replacement where they are none, and UTF-16 where they have its
 * mark or its zeros. Both where either reader would find something; none for no bytes.
 */
export function toTexts(bytes: Uint8Array): string[] {
  if (bytes.length === 0) return []
  const encoding = findUtf16(bytes)
  if (!encoding) return [toUtf8(bytes)]
  const text = new TextDecoder(encoding).decode(bytes)
  // A mark costs two bytes: an interpreter skips it and runs the ASCII that follows.
  const hasAscii = asciiRun.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'))
  return hasAscii ? [toUtf8(bytes), text] : [text]
}

/** Shells drop NUL; in data a run of them separates strings. */
function toUtf8(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes)
  return text.includes('\0') ? text.replace(/\0+/g, (run) => (run.length === 1 ? '' : ' ')) : text
}

/** Whether bytes are a text but for a few characters that no text has. */
export function isText(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, sampleBytes)
  const text = new TextDecoder(findUtf16(sample)).decode(sample)
  const odd = text.match(/[^\P{Cc}\s]|\uFFFD/gu)?.length ?? 0
  return odd <= text.length * 0.05
}

function findUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const sample = bytes.subarray(0, sampleBytes)
  let [even, odd] = [0, 0]
  for (let at = sample.indexOf(0); at !== -1; at = sample.indexOf(0, at + 1)) {
    if (at % 2 === 0) even += 1
    else odd += 1
  }
  if (even + odd === 0) return undefined
  const least = (sample.length / 2) * utf16ZerosMin
  if (odd >= least && odd > 4 * even) return 'utf-16le'
  return even >= least && even > 4 * odd ? 'utf-16be' : undefined
}
