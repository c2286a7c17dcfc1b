import { findClientProblems, skillClients } from '@skillstead/protocol'
import { toShortName, type ShownSkill } from './shown-skill.ts'

/** The clients that do not load the skill or cut it, by its frontmatter. */
export function ClientList({ shown: { skill } }: { shown: ShownSkill }) {
  const found = skillClients.flatMap((client) => {
    const { problems } = findClientProblems({ frontmatter: skill.frontmatter }, client, toShortName(skill))
    return problems.length > 0 ? [[client.title, problems.join('; ')] as const] : []
  })
  return (
    <>
      <h2>Who loads it</h2>
      {found.length === 0 ? (
        <p>All known clients load it.</p>
      ) : (
        <ul class="client-list">
          {found.map(([title, problems]) => (
            <li key={title}>
              <strong>{title}</strong> {problems}
            </li>
          ))}
        </ul>
      )}
      <p class="hint">
        By the name, description and keys of its frontmatter. <code>skillstead lint --client</code> also reads its YAML.
      </p>
    </>
  )
}
