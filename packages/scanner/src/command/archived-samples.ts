import { isUnreadable, openZip, type Unreadable } from '@skillstead/skill-format/archives'
import type { Sample } from './samples.ts'

/** Reads the skills of a zip or tar.gz archive. Throws if it is damaged or malicious. */
export async function* readArchivedSamples(file: string): AsyncGenerator<Sample | Unreadable> {
  const type = /\.(?:zip|skill)$/i.test(file) ? 'zip' : 'tar.gz'
  for await (const item of openZip(file, type).items) {
    if (isUnreadable(item)) yield item
    else {
      const skillMd = { path: 'SKILL.md', bytes: Buffer.from(item.skillMd) }
      yield { id: item.id, files: [skillMd, ...item.files], at: { container: file } }
    }
  }
}
