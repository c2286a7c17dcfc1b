import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSkillName } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import { UsageError, text, type Command } from '../command.ts'
import { isSkillMd } from '../import/folder.ts'
import { toFileSystemError } from '../install/file-system-error.ts'
import { toNewSkill } from '../new-skill.ts'

interface NewSkill {
  readonly name: string
  readonly folder: string
}

const descriptionCharactersMax = 1024

/** `skillstead init NAME`. */
export const init: Command<NewSkill> = {
  summary: 'Begins a new skill: a folder of its name with a SKILL.md to fill in.',
  words: ['NAME'],
  options: {
    description: { value: 'TEXT', help: 'what it does and when to use it, by which agents find it' },
    license: { value: 'NAME', help: 'its licence, as in MIT' },
    dir: { value: 'DIR', help: 'the folder to make it in; this one unless it is said' },
  },
  async run(given) {
    const name = requireName(given.words[0]!)
    const description = text(given, 'description')
    if (description !== undefined && [...description].length > descriptionCharactersMax)
      throw new UsageError(`A description has at most ${descriptionCharactersMax} characters.`)
    const folder = join(text(given, 'dir') ?? '.', name)
    try {
      begin(folder, toNewSkill(name, description, text(given, 'license')))
    } catch (error) {
      throw toFileSystemError(error)
    }
    return { name, folder }
  },
  show: ({ folder }) => [
    `Made ${join(folder, 'SKILL.md')}. Write what it does, then:`,
    `  skillstead lint ${folder}`,
    `  skillstead publish ${folder} --dry-run`,
  ],
}

function begin(folder: string, skillMd: string): void {
  const there = existsSync(folder) ? readdirSync(folder).find(isSkillMd) : undefined
  if (there !== undefined) throw new Error(`${join(folder, there)} is there already; nothing was changed.`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'SKILL.md'), skillMd, { flag: 'wx' })
}

function requireName(name: string): string {
  if (isSkillName(name)) return name
  const slug = toSlug(name)
  throw new UsageError(
    `'${name}' is no name of a skill: that is 1 to 64 lower-case letters, digits and single hyphens between them` +
      (isSkillName(slug) ? `, as in ${slug}.` : '.'),
  )
}
