import type { Warning } from '@skillstead/protocol'

/** The lines of a new skill that say nothing until an author replaces them. */
const toFill = [
  'Describe the purpose of this skill in one or two sentences.',
  '- The user asks for ...',
  '- `input` (text): what the skill works on',
  '- What the user gets',
  '> An example request, and the result.',
] as const

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

${toFill[0]}

## When to use

${toFill[1]}

## Inputs

${toFill[2]}

## Steps

1. Read the input.
2. Do the work.
3. Check the result and summarize the changes.

## Outputs

${toFill[3]}

## Example

${toFill[4]}
`
}

/** A placeholder, which `lint` and `publish` refuse. */
const placeholder = '<Describe what this skill does and when an agent should use it>'

function toTitle(name: string): string {
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The code of the warning about a line of the template. */
export const templateCode = 'template_text'

/** A warning for each line that is still as `init` wrote it. */
export function warnOfTemplate(skillMd: string): Warning[] {
  return skillMd.split(/\r?\n/).flatMap((text, index) => {
    const isTemplate = toFill.some((line) => line === text.trim())
    const message = `'${text.trim()}' is text of the template. Replace it, or remove the line.`
    return isTemplate ? [{ code: templateCode, message, line: index + 1 }] : []
  })
}
