import type { HighlighterCore, LanguageRegistration } from 'shiki/core'
import { createCssVariablesTheme, createHighlighterCore } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'

/** A part of a line, with its kind, such as `keyword`; plain text has none. */
export type CodePart = readonly [text: string, kind?: string]

/** What the worker is asked to highlight. */
export interface HighlightOrder {
  readonly code: string
  /** A name of a language, or the extension of a file. */
  readonly language: string
}

/**
 * What the worker answers: `loaded` when it begins to highlight, and then the parts of each line; null for an unknown
 * language; `failed` if the browser could not load what the language needs.
 */
export type HighlightAnswer = 'loaded' | 'failed' | CodePart[][] | null

const themeName = 'variables'
type LoadGrammar = () => Promise<{ default: LanguageRegistration[] }>
/** Grammars of https://shiki.style by all their names, each loaded when a text needs it. */
const grammars: Readonly<Record<string, LoadGrammar>> = {
  'bash sh shell zsh': () => import('shiki/langs/bash.mjs'),
  'c h': () => import('shiki/langs/c.mjs'),
  'cpp hpp': () => import('shiki/langs/cpp.mjs'),
  'csharp cs': () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  dockerfile: () => import('shiki/langs/dockerfile.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  'html htm': () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  'json jsonc': () => import('shiki/langs/jsonc.mjs'),
  'kotlin kt': () => import('shiki/langs/kotlin.mjs'),
  'markdown md': () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  'powershell ps1': () => import('shiki/langs/powershell.mjs'),
  'python py': () => import('shiki/langs/python.mjs'),
  'ruby rb': () => import('shiki/langs/ruby.mjs'),
  'rust rs': () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  'typescript js javascript jsx mjs ts tsx': () => import('shiki/langs/tsx.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  'yaml yml': () => import('shiki/langs/yaml.mjs'),
}
const grammarsByName = new Map(
  Object.entries(grammars).flatMap(([names, grammar]) => names.split(' ').map((name) => [name, grammar] as const)),
)

let highlighter: Promise<HighlighterCore> | undefined

async function load(loadGrammar: LoadGrammar) {
  highlighter ??= createHighlighterCore({
    themes: [createCssVariablesTheme({ name: themeName })],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
  const [core, grammar] = await Promise.all([highlighter, loadGrammar()])
  await core.loadLanguage(...grammar.default)
  return { core, lang: grammar.default.at(-1)!.name }
}

async function highlight({ code, language }: HighlightOrder): Promise<HighlightAnswer> {
  const grammar = grammarsByName.get(language)
  if (!grammar) return null
  const loaded = await load(grammar).catch(() => undefined)
  if (!loaded) return 'failed'
  answer('loaded')
  const lines = loaded.core.codeToTokensBase(code, { lang: loaded.lang, theme: themeName })
  return lines.map((tokens) => tokens.map(({ content, color }) => [content, /token-([a-z]+)/.exec(color ?? '')?.[1]]))
}

function answer(message: HighlightAnswer): void {
  postMessage(message)
}

addEventListener('message', async ({ data }: MessageEvent<HighlightOrder>) => {
  answer(await highlight(data).catch(() => null))
})
