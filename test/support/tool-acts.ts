import { toToolDefinition, type LoadedSkill } from '@skillstead/skill-format/loading'

/** The tool of a skill with these inputs. */
export function defineTool(inputs: unknown, skill: { name?: string; description?: string } = {}) {
  const { name = 'pdf', description = 'Fill PDF forms.' } = skill
  return toToolDefinition({ name, fullName: `alice/${name}`, description, contract: { inputs } })
}

/** A skill as a node gives it at a level. */
export function loaded(parts: Partial<LoadedSkill> = {}): LoadedSkill {
  const metadata: LoadedSkill['metadata'] = {
    name: 'pdf',
    fullName: 'alice/pdf',
    version: '1.0.0',
    description: 'Fill PDF forms.',
    author: { id: '0', username: 'alice', avatarUrl: '/avatar' },
    downloads: 3,
    securityScore: 100,
    verified: false,
    deprecated: false,
    keywords: [],
  }
  return { level: 'metadata', metadata, frontmatter: {}, truncated: [], ...parts }
}
