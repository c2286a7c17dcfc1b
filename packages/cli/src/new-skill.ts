/** The SKILL.md of a new skill: what the open format asks for, and the sections that registries and agents look for. */
export function toNewSkill(name: string, description = placeholder, license?: string): string {
  const frontmatter = [
    ['name', name],
    // JSON is YAML in quotes, whatever somebody writes.
    ['description', JSON.stringify(description)],
    ...(license === undefined ? [] : [['license', JSON.stringify(license)]]),
  ]
  return `---
${frontmatter.map(([key, value]) => `${key}: ${value}`).join('\n')}
---

# ${toTitle(name)}

Say in a sentence or two what this skill is for.

## When to use

- The user asks for ...

## Inputs

- \`input\` (text): what the skill works on

## Steps

1. Look at what is there.
2. Do the work.
3. Check the result, and say what was done.

## Outputs

- What the user gets

## Example

> What a user says, and what the answer looks like.
`
}

const placeholder = 'Say what this skill does, and in which situations an agent should use it.'

function toTitle(name: string): string {
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
