import { gunzipSync } from 'node:zlib'
import { readArchiveFiles } from '@skillstead/skill-format/archives'
import { readPack, readPackets } from './git-client.ts'

/** The bytes of an answer as text that can be searched: archives and git packs are inflated. */
export async function toSearchable(bytes: Buffer): Promise<string> {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes).toString('latin1')
  if (bytes.toString('latin1', 0, 2) === 'PK') {
    const files = await readArchiveFiles(bytes, 'zip')
    return files.map((file) => `${file.path}\n${Buffer.from(file.bytes).toString('latin1')}`).join('\n')
  }
  const text = bytes.toString('latin1')
  return /^[0-9a-f]{4}packfile\n/.test(text) ? readPacked(bytes) : text
}

/** The objects of a response of git, and the messages next to them. */
function readPacked(bytes: Buffer): string {
  const packets = readPackets(bytes)
  const [pack, others] = [
    packets.filter((packet) => packet.startsWith('\u0001')),
    packets.filter((packet) => !packet.startsWith('\u0001')),
  ]
  const objects = readPack(Buffer.from(pack.map((packet) => packet.slice(1)).join(''), 'latin1'))
  return [...others, ...[...objects.values()].map((object) => object.bytes.toString('latin1'))].join('\n')
}
