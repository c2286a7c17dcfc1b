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
  summary: 'Create a new skill: a folder of that name with a SKILL.md to fill in.',
  words: ['NAME'],
  options: {
    description: { value: 'TEXT', help: 'what the skill does and when to use it; agents find it by this text' },
    license: { value: 'NAME', help: 'the licence, such as MIT' },
    dir: { value: 'DIR', help: 'the folder to create it in. Default: the current folder' },
  },
  async run(given) {
    const name = requireName(given.words[0]!)
    const description = text(given, 'description')
    if (description !== undefined && [...description].length > descriptionCharactersMax)
      throw new UsageError(`The description is too long: at most ${descriptionCharactersMax} characters are allowed.`)
    const folder = join(text(given, 'dir') ?? '.', name)
    try {
      begin(folder, toNewSkill(name, description, text(given, 'license')))
    } catch (error) {
      throw toFileSystemError(error)
    }
    return { name, folder }
  },
  show: ({ folder }) => [
    `Created ${join(folder, 'SKILL.md')}. Fill it in, then run:`,
    `  skillstead lint ${folder}`,
    `  skillstead publish ${folder} --dry-run`,
  ],
}

function begin(folder: string, skillMd: string): void {
  const there = existsSync(folder) ? readdirSync(folder).find(isSkillMd) : undefined
  if (there !== undefined) throw new Error(`${join(folder, there)} exists already; nothing was changed.`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'SKILL.md'), skillMd, { flag: 'wx' })
}

function requireName(name: string): string {
  if (isSkillName(name)) return name
  const slug = toSlug(name)
  throw new UsageError(
    `'${name}' is not a valid skill name. Use 1 to 64 lower-case letters, digits and single inner hyphens` +
      (isSkillName(slug) ? `, such as ${slug}.` : '.'),
  )
}
