import type { IconNode } from 'lucide'
import { Check, Copy, Download, FileText, OctagonX, Package, ShieldCheck, Star, TriangleAlert, Users } from 'lucide'
import { type Security, toScoreVerdict, verdictWords } from '@skillstead/protocol'
import { Fragment, h, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { addresses } from '../addresses.ts'
import type { CodePart } from './highlight-worker.ts'
import { Icon } from './icon.tsx'

/** A relative time, with the exact time as its title; optionally after a verb, such as `published`. */
export function Time({ at, verb, faint }: { at: string; verb?: string; faint?: boolean }) {
  if (verb !== undefined) {
    return (
      <span>
        {verb} <Time at={at} />
      </span>
    )
  }
  return (
    <time class={faint ? 'faint' : undefined} dateTime={at} title={new Date(at).toLocaleString()}>
      {toAgo(Date.parse(at) - Date.now())}
    </time>
  )
}

const spans: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

function toAgo(fromNowMs: number): string {
  const [unit, ms] = spans.find(([, least]) => Math.abs(fromNowMs) >= least) ?? ['second', 1000]
  return relative.format(Math.trunc(fromNowMs / ms), unit)
}

const counts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

const countIcons: Readonly<Record<string, IconNode>> = {
  download: Download,
  follower: Users,
  install: Download,
  pack: Package,
  skill: FileText,
  star: Star,
}

/** A number with its unit, abbreviated if it is large. */
export function Count({ of, unit }: { of: number; unit: string }) {
  const icon = countIcons[unit]
  return (
    <span title={toCount(of, unit)}>
      {icon && <Icon of={icon} />}
      {counts.format(of)} {of === 1 ? unit : `${unit}s`}
    </span>
  )
}

/** A number with its unit, without abbreviation: `1 skill`, `1,200 skills`. */
export const toCount = (count: number, unit: string): string =>
  `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`

/** A name of the API, such as `under_review` or `skill.transfer`, in words. */
export const toWords = (name: string): string => name.replaceAll(/[_.-]/g, ' ')

export function toBytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`
}

export type Tone = 'good' | 'fair' | 'bad' | 'plain'

export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** The verdict that a score stands for, in words and as a colour. */
export function SecurityBadge({ score }: { score: number | null }) {
  if (score === null) return <Badge>not scanned</Badge>
  const verdict = toScoreVerdict(score)
  return (
    <span class={`badge ${verdictTones[verdict]}`} title={`Security score ${score} of 100`}>
      <Icon of={verdictIcons[verdict]} /> {verdictWords[verdict]}
    </span>
  )
}

type OfVerdicts<Value> = Readonly<Record<Security['verdict'], Value>>
export const verdictTones: OfVerdicts<Tone> = { safe: 'good', caution: 'fair', dangerous: 'bad' }
export const verdictIcons: OfVerdicts<IconNode> = { safe: ShieldCheck, caution: TriangleAlert, dangerous: OctagonX }

/** Copies a text, and returns whether that succeeded: browsers permit it on secure origins only. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Text to copy, with a button. */
export function Copyable({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, say] = useState('')
  const copy = async () => {
    say((await copyText(text)) ? 'Copied' : 'Select it and copy it manually')
    setTimeout(() => say(''), 3000)
  }
  return (
    <div class="copyable">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <button type="button" class="copy" aria-label={label} title={label} onClick={copy}>
        <Icon of={said === 'Copied' ? Check : Copy} />
      </button>
      <span class="said" role="status">
        {said}
      </span>
    </div>
  )
}

/** A highlighted line of code: the kinds of its parts are classes, whose colours are in the styles. */
export const CodeLine = ({ of }: { of: readonly CodePart[] }) =>
  of.map(([text, kind], place) => (kind ? h('span', { key: place, class: `code-${kind}` }, text) : text))

/** A secret that the node shows only once, with a sentence about its use. */
export const NewSecret = (props: {
  label: string
  text: string
  expiresAt?: string | null | undefined
  children: ComponentChildren
  onDone?: () => void
}) => (
  <section class={props.onDone ? 'card secret' : 'secret'} aria-label={props.label}>
    <p role="status">
      {props.children}
      {props.expiresAt && <> It expires on {props.expiresAt.slice(0, 10)}.</>}
    </p>
    <Copyable text={props.text} />
    {props.onDone && (
      <button type="button" onClick={props.onDone}>
        Done
      </button>
    )}
  </section>
)

/** Text that users wrote, in a paragraph of its own. */
export const UserText = (props: { class: string; children: string }) => (
  <p class={props.class} dir="auto">
    {props.children}
  </p>
)

/** A heading with the name of an item of a list, which links to its page. */
export function NameHeading({ level = 2, ...link }: { level?: 2 | 3; href: string; name: string }) {
  const Heading = `h${level}` as const
  return (
    <Heading>
      <NameLink {...link} />
    </Heading>
  )
}

/** Terms with their values; rows without a value are left out. */
export const Terms = ({ of }: { of: readonly (readonly [term: string, value: ComponentChildren])[] }) => (
  <dl class="terms">
    {of.map(([term, value]) =>
      value == null ? null : (
        <Fragment key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </Fragment>
      ),
    )}
  </dl>
)

/** A link that looks like a button. */
export const LinkButton = ({ href, children }: { href: string; children: string }) => (
  <a class="button" href={href}>
    {children}
  </a>
)

/** A link whose text is an untrusted name: the direction of its script does not change the text around it. */
export const NameLink = ({ href, name }: { href: string; name: string }) => (
  <a href={href}>
    <bdi>{name}</bdi>
  </a>
)

/** A link to the page of a user or an organisation. */
export const UserLink = ({ name }: { name: string }) => <NameLink href={addresses.user(name)} name={name} />

/** The user who made something, for a line of facts. */
export const By = ({ name }: { name: string }) => (
  <span>
    by <UserLink name={name} />
  </span>
)

/** Paths with a reason for each, below a title; nothing without paths. */
export function Reasons({ title, of }: { title: string; of: readonly { path: string; reason: string }[] }) {
  if (of.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {of.map(({ path, reason }) => (
          <li key={path}>
            <bdi>{path}</bdi> <span class="faint">{reason}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** An empty state, with a hint what to do. */
export const Empty = ({ children }: { children: ComponentChildren }) => <div class="empty">{children}</div>

/** Announces the outcome of an action, also to screen readers. */
export const Notice = ({ children, tone = 'good' }: { children: ComponentChildren; tone?: Tone }) => (
  <p class={`notice ${tone}`} role="status">
    {children}
  </p>
)

/** Figures with their titles, and optionally the pages that they lead to. */
export const Figures = (props: {
  class?: string
  of: readonly (readonly [title: string, value: ComponentChildren, href?: string])[]
}) => (
  <dl class={props.class ?? 'figures'}>
    {props.of.map(([title, value, href]) => (
      <div key={title}>
        <dt>{href === undefined ? title : <a href={href}>{title}</a>}</dt>
        {typeof value === 'number' ? <dd class="number">{value.toLocaleString('en')}</dd> : <dd>{value}</dd>}
      </div>
    ))}
  </dl>
)
