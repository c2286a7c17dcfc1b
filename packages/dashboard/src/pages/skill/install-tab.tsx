import { Copyable, Empty } from '../../ui/parts.tsx'
import { listInstallWays } from './install-commands.ts'
import type { ShownSkill } from './shown-skill.ts'

/** Install commands for common programs. */
export function InstallTab({ shown }: { shown: ShownSkill }) {
  if (!shown.version) return <Empty>There is no version to install.</Empty>
  return (
    <>
      <p>
        These commands install exactly version {shown.version}, from <code>{location.origin}</code>.
      </p>
      <p class="hint">
        Without an installed <code>skillstead</code>, write <code>npx skillstead</code>; in a clone of the project,{' '}
        <code>./skillstead</code>.
      </p>
      {shown.skill.visibility !== 'public' && (
        <p class="notice plain">
          This skill is {shown.skill.visibility}: log in first with <code>skillstead login</code>. Installers without a
          key need a share link from its owner.
        </p>
      )}
      {listInstallWays(shown).map(({ title, hint, text }) => (
        <section key={title} class="way">
          <h2>{title}</h2>
          <p class="hint">{hint}</p>
          <Copyable text={text} label={`Copy for ${title}`} />
        </section>
      ))}
    </>
  )
}
