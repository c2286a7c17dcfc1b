import { useState } from 'preact/hooks'
import { readMemory, writeMemory } from '../../ui/browser-memory.ts'
import { Select } from '../../ui/form.tsx'
import { site } from '../../site.ts'
import { Copyable } from '../../ui/parts.tsx'
import { Commands, toInstalled } from './install-tab.tsx'
import { listInstallers } from './install-ways.ts'
import { toTab, type ShownSkill } from './shown-skill.ts'

const key = 'agent'

/** The first command for the reader's agent, which the browser remembers. */
export function InstallBox({ shown }: { shown: ShownSkill }) {
  const [agent, setAgent] = useState(() => readMemory(key))
  const installers = listInstallers(toInstalled(shown))
  const chosen = installers.find(({ id }) => id === agent) ?? installers[0]!
  const [way] = chosen.ways
  return (
    <section class="box" aria-label="Install">
      <Select
        label="Install for"
        name="agent"
        value={chosen.id}
        options={installers.map(({ id, title }) => [id, title] as const)}
        onChange={(id) => {
          writeMemory(key, id)
          setAgent(id)
        }}
      />
      <Commands key={shown.version} shown={shown}>
        <Copyable text={way!.text} label={`Copy for ${chosen.title}`} />
        <p class="hint">{way!.hint}</p>
      </Commands>
      <p class="hint">
        <a href={toTab(shown, 'install', { agent: chosen.id })}>All ways to install</a>
        {site.recordsInstallers && '. The owner sees which users installed it.'}
      </p>
    </section>
  )
}
