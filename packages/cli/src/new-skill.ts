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
