import type { api } from '../api.ts'
import type { TargetedKeyboardEvent } from 'preact'
import { addresses, toAddress } from '../addresses.ts'
import { Badge, Count, SecurityBadge, Time } from './parts.tsx'

export type Skill = Awaited<ReturnType<typeof api.searchSkills>>['skills'][number]

/** A list of skills with the search terms marked, and an optional note under each. */
export function SkillList(props: { skills: readonly Skill[]; terms?: string; notes?: readonly string[] }) {
  const { skills, terms = '', notes = [] } = props
  return (
    <ul class="skills" onKeyDown={moveInList}>
      {skills.map((skill, place) => (
        <li key={skill.id}>
          <h2>
            <a href={addresses.skill(skill.fullName)}>
              <FullName name={skill.fullName} terms={toMarkedWords(skill, terms)} />
            </a>
          </h2>
          <p dir="auto">
            <Marked text={skill.description} terms={toMarkedWords(skill, terms)} />
          </p>
          <Passage match={skill.match} />
          {notes[place] && <p dir="auto">{notes[place]}</p>}
          <p class="facts">
            {skill.verified && <Badge tone="good">verified</Badge>}
            {skill.deprecated && <Badge tone="fair">deprecated</Badge>}
            <SecurityBadge score={skill.securityScore} />
            {skill.latestVersion && <span>{skill.latestVersion}</span>}
            <Count of={skill.downloads} unit="download" />
            <Count of={skill.stars} unit="star" />
            <Time at={skill.publishedAt} />
          </p>
        </li>
      ))}
    </ul>
  )
}

/** Moves the focus to the next or previous skill with the arrow keys. */
function moveInList(event: TargetedKeyboardEvent<HTMLUListElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('h2 a')]
  const place = links.findIndex((link) => link === document.activeElement)
  const next = step === undefined || place === -1 ? undefined : links[place + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}

/** A link to the page of a skill. */
export const SkillLink = ({ name }: { name: string }) => (
  <a href={addresses.skill(name)}>
    <FullName name={name} />
  </a>
)

/** A link to a version of a skill, with both as its text. */
export const VersionLink = ({ fullName, version }: { fullName: string; version: string }) => (
  <a href={toAddress(addresses.skill(fullName), { version })}>
    <bdi>{fullName}</bdi> {version}
  </a>
)

/** A full name with its owner fainter than its short name, and with words marked. */
export function FullName({ name, terms = '' }: { name: string; terms?: string }) {
  const nameStart = name.indexOf('/') + 1
  return (
    <bdi class="full-name">
      <span>
        <Marked text={name.slice(0, nameStart)} terms={terms} />
      </span>
      <Marked text={name.slice(nameStart)} terms={terms} />
    </bdi>
  )
}

/** The sentence of SKILL.md that answers the search, with the matching words marked. */
function Passage({ match }: Pick<Skill, 'match'>) {
  if (!match?.passage) return null
  const { passage, highlights = [] } = match
  const parts = highlights.flatMap(([start, end], i) => [
    passage.slice(highlights[i - 1]?.[1] ?? 0, start),
    <mark key={start}>{passage.slice(start, end)}</mark>,
  ])
  return (
    <p class="passage" dir="auto">
      {parts}
      {passage.slice(highlights.at(-1)?.[1] ?? 0)}
    </p>
  )
}

/** The typed words, and the words of the skill that matched them. */
const toMarkedWords = ({ match }: Skill, typed: string): string => [typed, ...(match?.terms ?? [])].join(' ')

/** Text with the words of a search marked at the beginning of words; anywhere in scripts without spaces. */
export function Marked({ text, terms }: { text: string; terms: string }) {
  const words = terms.toLowerCase().match(/\p{Ideographic}+|[\p{L}\p{N}\p{M}]{2,}/gu)
  if (!words) return <>{text}</>
  // Longest first, because the first matching alternative wins.
  const longest = [...new Set(words)].toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(`(${longest.map(toWordPattern).join('|')})`, 'giu')
  return <>{text.split(pattern).map((part, place) => (place % 2 === 1 ? <mark key={place}>{part}</mark> : part))}</>
}

const toWordPattern = (word: string): string =>
  /[\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word)
    ? word
    : `(?<![\\p{L}\\p{N}])${word}`
