import { parseSkillMd, readCapabilities } from '@skillstead/skill-format'

/**
 * The name, the frontmatter and the allowed tools of a SKILL.md. The frontmatter and the tools are empty unless
 * `asking` matches the text of the frontmatter, because parsing the YAML takes longer than the rest of the function.
 */
export function readFrontmatterHead(text: string, asking: RegExp) {
  const end = text.startsWith('---') ? text.indexOf('\n---', 3) : -1
  const head = text.slice(0, end === -1 ? 0 : end)
  const name = /^name: {0,3}["']?([\w-]{1,64})/m.exec(head)?.[1] ?? ''
  if (!asking.test(head)) return { name, frontmatter: {}, tools: [] }
  const parsed = parseSkillMd(`${head}\n---\n`)
  const { frontmatter } = parsed
  const tools = frontmatter['allowed-tools'] ?? frontmatter.allowed_tools ?? frontmatter.tools
  return { name, frontmatter, tools: readCapabilities({ ...parsed, frontmatter: { 'allowed-tools': tools } }) }
}
