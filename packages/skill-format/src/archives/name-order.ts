import { posix } from 'node:path'
import { isRegistryError, isSkillName } from '@skillstead/protocol'
import { parseSkillMd } from '../skill-md/parse.ts'
import { readSkillFields } from '../skill-md/fields.ts'
import { findSizeProblem } from './selected-skill.ts'
import type { SelectedSkill, SourceEntry } from './select-files.ts'

type Read<Entry> = (entries: readonly Entry[]) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>

const batchMax = 64
const batchBytes = 4 * 1024 * 1024

/**
 * Puts the skills first whose name is valid as it is written, so that no name derived from an invalid one takes it. The
 * order is otherwise kept. `read` returns the contents of entries, in their order.
 */
export async function putValidNamesFirst<Entry extends SourceEntry & { readonly size?: number }>(
  skills: readonly SelectedSkill<Entry>[],
  read: Read<Entry>,
): Promise<SelectedSkill<Entry>[]> {
  if (skills.length < 2) return [...skills]
  const readable = skills.filter((skill) => findSizeProblem(skill) === undefined)
  const valid = new Set<SelectedSkill<Entry>>()
  for (const batch of toBatches(readable)) {
    const texts = await readDocuments(batch, read)
    for (const [at, skill] of batch.entries()) if (isNameValid(skill.folder, texts[at])) valid.add(skill)
  }
  return skills.toSorted((one, other) => Number(valid.has(other)) - Number(valid.has(one)))
}

function toBatches<Entry extends SourceEntry & { readonly size?: number }>(skills: readonly SelectedSkill<Entry>[]) {
  const batches: SelectedSkill<Entry>[][] = []
  let bytes = 0
  for (const skill of skills) {
    const { size = 0 } = skill.skillMd
    const last = batches.at(-1)
    bytes += size
    if (last && last.length < batchMax && bytes < batchBytes) last.push(skill)
    else {
      batches.push([skill])
      bytes = size
    }
  }
  return batches
}

/** A document that cannot be read is reported when its skill is read. */
async function readDocuments<Entry extends SourceEntry>(batch: readonly SelectedSkill<Entry>[], read: Read<Entry>) {
  const attempt = async (skills: readonly SelectedSkill<Entry>[]) => {
    try {
      return await read(skills.map(({ skillMd }) => skillMd))
    } catch (error) {
      if (isRegistryError(error)) return undefined
      throw error
    }
  }
  const texts = await attempt(batch)
  return texts ?? Promise.all(batch.map(async (skill) => (await attempt([skill]))?.[0]))
}

function isNameValid(folder: string, bytes: Uint8Array | undefined): boolean {
  if (!bytes) return false
  const text = new TextDecoder().decode(bytes)
  // Almost every document: parsing each one twice would make imports slower.
  const plain = plainNamePattern.exec(text)?.[1]
  if (plain !== undefined && isSkillName(plain)) return true
  const { name, displayName } = readSkillFields(parseSkillMd(text))
  return name !== undefined || (displayName === undefined && isSkillName(posix.basename(folder)))
}

/** A name without quotes on the first line of the frontmatter. */
const plainNamePattern = /^---\r?\nname: ([a-z0-9-]+)\r?\n/
