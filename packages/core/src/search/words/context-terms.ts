import { parseNeed } from './tokenize.ts'

/** The context of a search: the project's files and languages, and the skills that the agent already has. */
export interface SearchContext {
  /** Paths within the project. Only their endings and well-known names count. */
  readonly files?: readonly string[] | undefined
  readonly languages?: readonly string[] | undefined
  /** The keywords and categories of installed skills. */
  readonly installed?: readonly { readonly keywords: readonly string[]; readonly category: string }[] | undefined
}

/**
 * Maximum number of terms. If there are more, the terms that most files, languages and skills share are used. Each term
 * takes up to 0.2 ms with 50,000 skills.
 */
const contextTermsMax = 32
/** Maximum length of an unknown file ending that counts as a term. */
const endingLengthMax = 12

/**
 * The words that a context stands for, most frequent first.
 *
 * @example toContextTerms({ files: ['infra/main.tf'], languages: ['Go'] }) // ['terraform', 'infrastructure', 'go']
 */
export function toContextTerms({ files = [], languages = [], installed = [] }: SearchContext): string[] {
  const texts = [
    ...files.map(describeFile),
    ...languages,
    ...installed.map(({ keywords, category }) => [...keywords, category].join('\n')),
  ]
  const counts = new Map<string, number>()
  for (const text of texts) {
    for (const term of parseNeed(text).words) counts.set(term, (counts.get(term) ?? 0) + 1)
  }
  const byCount = [...counts].toSorted(([, a], [, b]) => b - a)
  return byCount.slice(0, contextTermsMax).map(([term]) => term)
}

/** The words that a file's folders, name and ending stand for. */
function describeFile(path: string): string {
  const parts = path.toLowerCase().split(/[\\/]/)
  const name = parts.at(-1)!
  const place = contextPlaces.find(([folder]) => `/${parts.join('/')}`.includes(`/${folder}/`))?.[1] ?? ''
  const tool = /^([a-z]+)\.config\.[a-z]+$/.exec(name)?.[1] ?? ''
  const known =
    wordsOfName[name] ?? wordsOfTool[tool] ?? contextPatterns.find(([pattern]) => pattern.test(name))?.[1] ?? ''
  const ending = /\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''
  const own = ending.length <= endingLengthMax ? ending : ''
  return `${place} ${known} ${wordsOfEnding[ending] ?? own}`
}

const contextPlaces: readonly (readonly [folder: string, words: string])[] = [
  ['.github/workflows', 'github actions workflow ci'],
  ['.circleci', 'circleci ci'],
  ['.husky', 'git hooks'],
  ['.claude', 'claude'],
  ['.cursor', 'cursor'],
  ['.storybook', 'storybook'],
  ['__tests__', 'test'],
  ['migrations', 'database migration'],
]

const wordsOfName: Readonly<Record<string, string>> = asTable({
  'package.json': 'node javascript npm',
  'pnpm-lock.yaml': 'node javascript pnpm',
  'yarn.lock': 'node javascript yarn',
  'bun.lock': 'javascript bun',
  'deno.json': 'javascript deno',
  'angular.json': 'angular',
  'nx.json': 'nx monorepo',
  'turbo.json': 'turborepo monorepo',
  'cargo.toml': 'rust cargo',
  'go.mod': 'go golang',
  'pyproject.toml': 'python',
  'requirements.txt': 'python pip',
  'setup.py': 'python',
  pipfile: 'python',
  'manage.py': 'python django',
  gemfile: 'ruby',
  'composer.json': 'php composer',
  'pom.xml': 'java maven',
  'build.gradle': 'java gradle',
  'build.gradle.kts': 'kotlin gradle',
  'pubspec.yaml': 'dart flutter',
  'mix.exs': 'elixir',
  'package.swift': 'swift',
  podfile: 'ios cocoapods',
  'cmakelists.txt': 'cpp cmake',
  makefile: 'make',
  'chart.yaml': 'kubernetes helm',
  'kustomization.yaml': 'kubernetes kustomize',
  'serverless.yml': 'serverless',
  'vercel.json': 'vercel',
  'netlify.toml': 'netlify',
  'fly.toml': 'fly',
  'wrangler.toml': 'cloudflare workers',
  'firebase.json': 'firebase',
  'schema.prisma': 'prisma database',
  'ansible.cfg': 'ansible',
  'playbook.yml': 'ansible playbook',
  jenkinsfile: 'jenkins ci',
  '.gitlab-ci.yml': 'gitlab ci',
  'claude.md': 'claude',
  'agents.md': 'agents',
  'skill.md': 'skill',
})

const contextPatterns: readonly (readonly [name: RegExp, words: string])[] = [
  [/^dockerfile(?:\.|$)/, 'docker container'],
  [/^(?:docker-)?compose(?:\..+)?\.ya?ml$/, 'docker compose'],
  [/^tsconfig(?:\..+)?\.json$/, 'typescript'],
  [/^\.eslintrc(?:\.|$)/, 'eslint lint'],
  [/^pytest\.ini$/, 'pytest test python'],
]

/** The words that a configuration file such as `next.config.mjs` stands for, by its tool. */
const wordsOfTool: Readonly<Record<string, string>> = asTable({
  next: 'nextjs react',
  nuxt: 'nuxt vue',
  svelte: 'svelte',
  astro: 'astro',
  vite: 'vite frontend',
  webpack: 'webpack frontend',
  tailwind: 'tailwind css',
  playwright: 'playwright test',
  cypress: 'cypress test',
  jest: 'jest test',
  vitest: 'vitest test',
  eslint: 'eslint lint',
})

const wordsOfEnding: Readonly<Record<string, string>> = asTable({
  ts: 'typescript',
  tsx: 'typescript react',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript react',
  vue: 'vue',
  svelte: 'svelte',
  html: 'html web',
  css: 'css web',
  scss: 'css sass',
  py: 'python',
  ipynb: 'python jupyter notebook',
  rb: 'ruby',
  rs: 'rust',
  go: 'go golang',
  java: 'java',
  kt: 'kotlin android',
  kts: 'kotlin',
  swift: 'swift ios',
  m: 'objective-c',
  cs: 'C# dotnet',
  csproj: 'C# dotnet',
  sln: 'dotnet',
  cpp: 'C++',
  hpp: 'C++',
  cc: 'C++',
  c: 'c',
  h: 'c',
  php: 'php',
  ex: 'elixir',
  exs: 'elixir',
  erl: 'erlang',
  hs: 'haskell',
  scala: 'scala',
  clj: 'clojure',
  dart: 'dart flutter',
  lua: 'lua',
  r: 'r statistics',
  jl: 'julia',
  sol: 'solidity ethereum',
  sh: 'bash shell',
  bash: 'bash shell',
  ps1: 'powershell',
  tf: 'terraform infrastructure',
  tfvars: 'terraform infrastructure',
  bicep: 'azure bicep',
  sql: 'sql database',
  prisma: 'prisma database',
  proto: 'protobuf grpc',
  graphql: 'graphql',
  csv: 'csv data',
  tsv: 'csv data',
  parquet: 'parquet data',
  xls: 'excel spreadsheet',
  xlsx: 'excel spreadsheet',
  doc: 'word document',
  docx: 'word document',
  ppt: 'powerpoint presentation',
  pptx: 'powerpoint presentation',
  pdf: 'pdf',
  md: 'markdown',
  mdx: 'markdown mdx',
  tex: 'latex',
  bib: 'bibtex citation',
  json: '',
  yaml: '',
  yml: '',
  toml: '',
  lock: '',
  txt: '',
  png: 'image',
  jpg: 'image',
  jpeg: 'image',
  svg: 'svg',
  mp3: 'audio',
  wav: 'audio',
  mp4: 'video',
  mov: 'video',
  unity: 'unity game',
  tscn: 'godot game',
  gd: 'godot game',
  blend: 'blender',
})

/** A table without the properties of every object, such as `constructor`. */
function asTable(rows: Record<string, string>): Record<string, string> {
  return Object.assign(Object.create(null), rows)
}
