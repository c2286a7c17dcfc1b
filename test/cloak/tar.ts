/** A tar of one file (POSIX, pax). */
export function packTarSync(name: string, text: string): Buffer {
  const data = Buffer.from(text)
  const head = Buffer.alloc(512)
  head.write(name)
  head.write('0000644\0', 100)
  head.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124)
  head.write('00000000000\0', 136)
  head.write('        0', 148)
  head.write('ustar\x0000', 257)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([head, data, Buffer.alloc((512 - (data.length % 512)) % 512), Buffer.alloc(1024)])
}
