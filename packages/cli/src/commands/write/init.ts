import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSkillName } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import { isSkillMd } from '@skillstead/skill-format/archives'
import { UsageError, command, textOption } from '../../command/command.ts'
import { toFileSystemError } from '../../install/file-system-error.ts'

const descriptionCharactersMax = 1024

export const commands = {
  init: command({
    description: 'Create a new skill: a folder of that name with a SKILL.md to fill in.',
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
  if (there !== undefined) throw new Error(`${join(folder, there)} already exists; nothing was changed.`)
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

/**
 * The SKILL.md of a new skill, with the fields of the open format and the sections that registries and agents expect.
 */
export function toNewSkill(name: string, description = placeholder, license?: string): string {
  const frontmatter = [
    ['name', name],
    // A JSON string is also a YAML string, so any text is safe here.
    ['description', JSON.stringify(description)],
    ...(license === undefined ? [] : [['license', JSON.stringify(license)]]),
  ]
  return `---
${frontmatter.map(([key, value]) => `${key}: ${value}`).join('\n')}
---

# ${toTitle(name)}

Describe the purpose of this skill in one or two sentences.

## When to use

- The user asks for ...

## Inputs

- \`input\` (text): what the skill works on

## Steps

1. Read the input.
2. Do the work.
3. Check the result and summarize the changes.

## Outputs

- What the user gets

## Example

> An example request, and the result.
`
}

const placeholder = 'Describe what this skill does and when an agent should use it.'

function toTitle(name: string): string {
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
