import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { nodeUrl, useAddress } from '../../addresses.ts'
import { findShareToken } from '../../share-link.ts'
import { site } from '../../site.ts'
import { Copyable, Empty, Notice } from '../../ui/parts.tsx'
import { Views } from '../../ui/tabs.tsx'
import { listInstallers, type Installed } from './install-ways.ts'
import { type ShownSkill, toTab } from './shown-skill.ts'
import { readMemory, writeMemory } from '../../browser-memory.ts'
import { Select } from '../../ui/form.tsx'

/** The install commands of each agent for exactly this version. */
export function InstallTab({ shown }: { shown: ShownSkill }) {
  const { fields } = useAddress()
  if (!shown.version) return <Empty>There is no version to install.</Empty>
  const installed = toInstalled(shown)
  const installers = listInstallers(installed)
  const chosen = installers.find(({ id }) => id === fields.agent) ?? installers[0]!
  const views = installers.map(({ id, title }) => {
    return { href: toTab(shown, 'install', { agent: id }), title, current: id === chosen.id }
  })
  return (
    <>
      <p>
        Install version {shown.version} from <code>{nodeUrl}</code> with:
      </p>
      <Views views={views} />
      {!installed.isPublic && (
        <p class="notice plain">
          {site.isPrivate ? 'This node is private' : `This skill is ${shown.skill.visibility}`}. Run{' '}
          <code>skillstead login</code> first; for other programs set <code>SKILLSTEAD_KEY</code> to your API key.{' '}
          {!installed.shareToken && 'Installers without a key need a share link from its owner.'}
        </p>
      )}
      <Commands key={shown.version} shown={shown}>
        {chosen.ways.map(({ hint, text }) => (
          <section key={text} class="way">
            <p class="hint">{hint}</p>
            <Copyable text={text} label={`Copy for ${chosen.title}`} />
          </section>
        ))}
      </Commands>
      {site.recordsInstallers && (
        <p class="hint">
          This node records which user installed which version last, for a year. The owner of the skill sees it.
        </p>
      )}
      <p class="hint">
        Without an installed <code>skillstead</code>, write <code>npx skillstead</code>; in a clone of the project,{' '}
        <code>./skillstead</code>.
      </p>
    </>
  )
}

/** Install commands; those of a dangerous version are hidden behind a button. */
function Commands({ shown, children }: { shown: ShownSkill; children: ComponentChildren }) {
  const [isWanted, setWanted] = useState(false)
  if (isWanted || shown.skill.security?.verdict !== 'dangerous') return <>{children}</>
  return (
    <>
      <Notice tone="bad">
        The scan found {shown.version} dangerous: it can harm your computer or your accounts.{' '}
        <a href={toTab(shown, 'security')}>See what it found</a> first.
      </Notice>
      <button type="button" class="quiet" onClick={() => setWanted(true)}>
        Show the install command anyway
      </button>
    </>
  )
}

/** What the install commands of the shown version are made of. */
function toInstalled({ skill, name, version }: ShownSkill): Installed {
  const isPublic = skill.visibility === 'public' && !site.isPrivate
  const isDangerous = skill.security?.verdict === 'dangerous'
  return { origin: nodeUrl, name, version, isPublic, isDangerous, shareToken: findShareToken(skill.fullName) }
}

const key = 'agent'

/** The recommended command for the chosen agent; the browser remembers the choice. */
export function InstallBox({ shown }: { shown: ShownSkill }) {
  const [agent, setAgent] = useState(() => readMemory(key))
  const installers = listInstallers(toInstalled(shown))
  const chosen = installers.find(({ id }) => id === agent) ?? installers[0]!
  const [way] = chosen.ways
  const options = installers.map(({ id, title }) => [id, title] as const)
  const choose = (id: string) => {
    writeMemory(key, id)
    setAgent(id)
  }
  return (
    <section class="box" aria-label="Install">
      <Select label="Install for" name="agent" value={chosen.id} options={options} onChange={choose} />
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
