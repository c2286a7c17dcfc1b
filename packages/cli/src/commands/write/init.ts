import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSkillName } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import { isSkillMd } from '@skillstead/skill-format/archives'
import { UsageError, command, textOption } from '../../command/command.ts'
import { toFileSystemError } from '../../install/file-system-error.ts'
import { toNewSkill } from '../../scan/skill-template.ts'

const descriptionCharactersMax = 1024

export const commands = {
  init: command({
    description:
      'Create a new skill: a folder of that name with a SKILL.md to fill in. `lint` fails until that is done.',
    words: ['NAME'],
    options: {
      description: { value: 'TEXT', help: 'what the skill does and when to use it; agents find it by this text' },
      license: { value: 'NAME', help: 'the licence, such as MIT' },
      dir: { value: 'DIR', help: 'the parent folder of the new folder. Default: the current folder' },
    },
    async run(given) {
      const name = requireName(given.words[0])
      const description = textOption(given, 'description')
      if (description !== undefined && [...description].length > descriptionCharactersMax)
        throw new UsageError(`The description is too long: at most ${descriptionCharactersMax} characters are allowed.`)
      const folder = join(textOption(given, 'dir') ?? '.', name)
      try {
        writeNewSkill(folder, toNewSkill(name, description, textOption(given, 'license')))
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
  }),
}

function writeNewSkill(folder: string, skillMd: string): void {
  const there = existsSync(folder) ? readdirSync(folder).find(isSkillMd) : undefined
  if (there !== undefined)
    throw new Error(`${join(folder, there)} already exists; nothing was changed. Choose another name or --dir.`)
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
