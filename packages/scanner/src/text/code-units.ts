/** The code units of a text, and a zero after them, so that loops need not check for the end. */
export function toCodeUnits(text: string): Uint16Array {
  const units = new Uint16Array(text.length + 1)
  Buffer.from(units.buffer).write(text, 'utf16le')
  return units
}
