import type { Security } from '@skillstead/protocol'
import { mayMatter } from './code/candidates.ts'
import { matchReading } from './verdict/match-reading.ts'
import { findCode, type CodePart } from './code/parts.ts'
import { readCodeText } from './code/read-program.ts'
import { findCombinedSpots, type Spot } from './verdict/combine.ts'
import { decodeEncodedText, type DecodedText } from './text/decode.ts'
import { Document } from './text/document.ts'
import { engineRules } from './rules/engine-rules.ts'
import { findHidden } from './files/hidden.ts'
import { isLessonOf, toStance, type Stance } from './verdict/polarity.ts'
import { isMarkdown, toRoles } from './files/role.ts'
import { readTextFiles, type TextFile } from './files/read-files.ts'
import { builtInRules, type PreparedRules } from './rules/prepared-rules.ts'
import type { ScanFile } from './files/scan-file.ts'
import { ScanFindings, type Subject } from './report/scan-findings.ts'
import type { Fact } from './rules/load-rules.ts'
import type { Hit } from './match/search.ts'
import { findToolClaims } from './access/tool-claims.ts'
import { OwnSources } from './verdict/own-sources.ts'
import { isExcused, type Place } from './verdict/weigh-match.ts'
import { findSuppressions } from './verdict/suppress.ts'

/** Maximum number of positions of one fact in a skill. */
const spotsMax = 5000
/** The files that describe the topic of the skill. */
const aboutPattern = /^(?:SKILL\.md|metadata:description)$/

/** A text in a file: the whole file, or a text decoded from a part of it. */
interface Layer extends Omit<DecodedText, 'text' | 'spelled'> {
  readonly document: Document
  readonly spelled?: string | undefined
}

/** A single scan of the files of a skill. */
export class Scan {
  readonly #rules: PreparedRules
  readonly #files: readonly TextFile[]
  readonly #findings = new ScanFindings()
  readonly #spots = new Map<string, Spot[]>()
  /** The paths of files of which a part was not scanned; undefined stands for a limit of the whole skill. */
  readonly #incomplete = new Set<string | undefined>()
  #isLesson = false
  #about = ''
  /** The sources of the skill's own product. Determined on first use, because few scans need them. */
  #own: OwnSources | undefined

  constructor(files: readonly ScanFile[], rules = builtInRules) {
    this.#rules = rules
    this.#files = readTextFiles(files, (path, reason) => this.cutAt(path, reason))
  }

  *run(): Generator<void> {
    const roles = toRoles(this.#files)
    this.#about = this.#files.find(({ path }) => aboutPattern.test(path))?.text ?? ''
    this.#isLesson = isLessonOf(this.#about)
    const subjects: Subject[] = []
    for (const [index, { path, text, found, of }] of this.#files.entries()) {
      const document = new Document(text, isMarkdown(path))
      const role = roles.get(of.path)!
      const subject = { index, path, of, document, role, suppressions: findSuppressions(document) }
      subjects.push(subject)
      for (const name of found) this.#findings.add(engineRules[name], subject, 0)
      for (const { rule, start } of findHidden(text, subject.role))
        this.#findings.add(engineRules[rule], subject, start)
      try {
        yield* this.#scanFile(subject)
      } catch {
        this.cutAt(path)
      }
    }
    for (const { file, rule, offset } of findToolClaims(subjects)) this.#findings.add(engineRules[rule], file, offset)
    for (const combination of this.#rules.combinations) {
      for (const { file, offset } of findCombinedSpots(combination, this.#spots)) {
        this.#findings.add(combination, subjects[file]!, offset)
      }
    }
    const firstOfPath = new Map(subjects.toReversed().map((subject) => [subject.path, subject]))
    for (const path of this.#incomplete) {
      const subject = (path !== undefined && firstOfPath.get(path)) || subjects[0]
      if (subject) this.#findings.add(engineRules['incomplete-scan'], subject, 0)
    }
  }

  toSecurity(now: number): Security {
    return this.#findings.toSecurity(now, this.#rules.version, this.#files[0]?.path ?? 'SKILL.md')
  }

  /** Reports a part that was not scanned, which is also a finding at its file. */
  cutAt(path: string, reason = 'The scan of it failed and was given up.'): void {
    this.#incomplete.add(path)
    this.#findings.cutAt(path, reason)
  }

  *#scanFile(subject: Subject): Generator<void> {
    const { document } = subject
    const whole: Layer = { document, decoded: [], offset: 0, end: document.text.length, isHidden: false }
    yield* this.#scanLayer(subject, whole)
    const onCut = (reason: string) => this.cutAt(subject.path, reason)
    const texts = new Set<string>()
    for (const { text, ...decoded } of decodeEncodedText(document.text, onCut)) {
      texts.add(text)
      yield* this.#scanLayer(subject, { ...decoded, document: new Document(text, document.isMarkdown) })
    }
    for (const part of subject.role === 'data' ? [] : findCode(subject.path, document)) {
      yield* this.#scanCode(subject, part, texts)
      yield
    }
  }

  /** Reads code, and scans the texts that it computes unless they were decoded already. */
  *#scanCode(subject: Subject, part: CodePart, known: Set<string>): Generator<void> {
    const { language, text: code } = part
    if (!this.#rules.readsAllCode && !mayMatter(language, code)) return
    const reading = readCodeText(language, code)
    if (reading.cut !== undefined) this.cutAt(subject.path, reading.cut)
    for (const rule of this.#rules.codeRules) {
      const lines = new Set<number>()
      for (const { start, end, sources } of matchReading(rule, reading)) {
        const offset = part.offset + start
        const line = subject.document.toLine(offset)
        if (lines.has(line) || this.#isReported(subject, line, [rule.id, ...(rule.unlessReported ?? [])])) continue
        lines.add(line)
        const place: Place = {
          stance: toStance(subject.document, offset, part.offset + end, this.#isLesson),
          role: subject.role,
          isUnseen: subject.document.isUnseen(offset),
          isEncoded: false,
          isCode: true,
          isOwn: sources.length > 0 && sources.every((source) => this.#isOwn(rule, source)),
        }
        const signal = this.#findings.add(rule, subject, offset, [], place)
        if (signal !== 'none') this.#mark({ id: rule.id, file: subject.index, line, offset })
      }
    }
    for (const { text, start, end, decoded } of reading.texts) {
      if (known.has(text)) continue
      known.add(text)
      const isHidden = decoded.some((operation) => operation !== 'concatenation' && operation !== 'replacement')
      const span = { offset: part.offset + start, end: part.offset + end }
      yield* this.#scanLayer(subject, { document: new Document(text, false), decoded, ...span, isHidden })
    }
  }

  /** Whether a rule with one of the ids matched on a line, even if that finding is not listed. */
  #isReported({ index }: Subject, line: number, ids: readonly string[]): boolean {
    return ids.some((id) => this.#spots.get(id)?.some((spot) => spot.file === index && spot.line === line))
  }

  *#scanLayer(subject: Subject, layer: Layer): Generator<void> {
    const { rules, probes, search } = this.#rules
    const isData = subject.role === 'data'
    const isWanted = (probe: number) => {
      const rule = rules[probe]
      if (!rule) return !isData
      return rule.roles ? rule.roles.includes(subject.role) : !isData
    }
    const onCut = (probe: number) => {
      this.cutAt(subject.path, `Too much looks like ${probes[probe]!.id}; the rest was not tried.`)
    }
    const seen = new Set<string>()
    for (const hits of search.find(layer.document.text, isWanted, onCut)) {
      for (const hit of hits) this.#take(subject, layer, hit, seen)
      yield
    }
  }

  /** Records a match: at most one per line of each rule or fact, the first. */
  #take(subject: Subject, layer: Layer, hit: Hit, seen: Set<string>): void {
    const { rules, probes } = this.#rules
    const { id } = probes[hit.probe]!
    const isDecoded = layer.decoded.length > 0
    const offset = isDecoded ? layer.offset : hit.start
    const line = subject.document.toLine(offset)
    const key = `${id}\n${isDecoded ? layer.document.toLine(hit.start) : line}`
    if (seen.has(key) || isInBoth(layer, hit)) return
    const stance = this.#stance(subject, layer, hit)
    const rule = rules[hit.probe]
    // Ignore this match of a fact, because another match on the line may be an instruction.
    if (!rule && stance.polarity !== 'imperative' && stance.basis !== 'sign') return
    const shownKey = stance.polarity === 'imperative' ? key : `${key}\n${stance.polarity}`
    if (seen.has(shownKey)) return
    seen.add(shownKey)
    const place: Place = {
      stance,
      role: subject.role,
      isUnseen: hit.isHidden || layer.document.isUnseen(hit.start) || subject.document.isUnseen(offset),
      isEncoded: layer.isHidden,
      isCode: layer.document.isCode(hit.start),
      isOwn: this.#isOwn(probes[hit.probe]!, toHitPassage(layer.document, hit)),
    }
    const signal = rule ? this.#findings.add(rule, subject, offset, layer.decoded, place) : 'power'
    if (signal !== 'none') this.#mark({ id, file: subject.index, line, offset, isOwn: isExcused(place) })
  }

  #stance({ document }: Subject, layer: Layer, hit: Hit): Stance {
    const stance = toStance(layer.document, hit.start, hit.end, this.#isLesson)
    if (layer.document === document || stance.polarity !== 'imperative') return stance
    return toStance(document, layer.offset, layer.end, this.#isLesson)
  }

  #isOwn({ foreign }: Pick<Fact, 'foreign'>, passage: string): boolean {
    if (!foreign) return false
    this.#own ??= new OwnSources(this.#about)
    return this.#own.includes(passage)
  }

  #mark(spot: Spot): void {
    const spots = this.#spots.get(spot.id)
    if (!spots) this.#spots.set(spot.id, [spot])
    else if (spots.length < spotsMax) spots.push(spot)
    else this.#incomplete.add(undefined)
  }
}

/** A match with the rest of its line, in which its address may be. */
function toHitPassage({ text }: Document, { start, end }: Hit): string {
  const lineEnd = text.indexOf('\n', end)
  return text.slice(start, Math.min(lineEnd < 0 ? text.length : lineEnd, end + passageCharactersMax))
}

const passageCharactersMax = 300

/** Whether another spelling of a text has no match that the text itself does not have. */
function isInBoth({ document, spelled }: Layer, { start, end }: Hit): boolean {
  if (spelled === undefined) return false
  const found = document.text.slice(start, end)
  return spelled.split(found).length >= document.text.split(found).length
}
