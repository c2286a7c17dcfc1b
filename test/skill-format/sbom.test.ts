import { describe, expect, it } from 'vitest'
import { readDeclaredPackages, writeProjectSbom, writeSkillSbom } from '@skillstead/skill-format/sbom'
import { toDigest, toVersionDigest } from '@skillstead/skill-format/archives'
import { listFacts, readSbom } from '../support/read-sbom.ts'

const toFiles = (files: Record<string, string | Uint8Array>) =>
  Object.entries(files).map(([path, content]) => {
    const bytes = Buffer.from(content)
    return { path, bytes, read: () => bytes }
  })

const read = (files: Record<string, string | Uint8Array>) => readDeclaredPackages(toFiles(files))

const toUnreadable = (path: string) => ({ path, read: () => Promise.reject(new Error(`${path} is read`)) })

/** The packages of one file, as `ecosystem name range scope`, with the version of pinned ones. */
async function list(path: string, content: string): Promise<string[]> {
  const { packages, unread } = await read({ [path]: content })
  return [
    ...packages.map(({ ecosystem, name, range, scope, version }) =>
      [ecosystem, name, range, scope === 'required' ? '' : scope, version && `= ${version}`].filter(Boolean).join(' '),
    ),
    ...unread.map(({ reason }) => `unread: ${reason}`),
  ]
}

describe('declared packages', () => {
  it('are read from a package.json with aliases, addresses and scopes', async () => {
    const json = {
      dependencies: { zod: '^4.1.0', '@acme/x': '1.2.3', short: 'npm:long@~2', local: 'file:../local', git: 'me/repo' },
      optionalDependencies: { fsevents: '*' },
      peerDependencies: { react: '>=18 <20' },
      devDependencies: { vitest: '=5.0.0-beta.1' },
    }
    expect(await list('package.json', JSON.stringify(json))).toEqual([
      'npm zod ^4.1.0',
      'npm @acme/x 1.2.3 = 1.2.3',
      'npm long ~2',
      'npm local file:../local',
      'npm git me/repo',
      'npm fsevents * optional',
      'npm react >=18 <20 optional',
      'npm vitest =5.0.0-beta.1 excluded = 5.0.0-beta.1',
    ])
  })

  it('are read from requirements files, with extras, markers, hashes and addresses', async () => {
    const text = `# Tools
requests[socks,http2] >=2.31,<3 ; python_version < "3.13"  # a comment
numpy==1.26.4 \\
    --hash=sha256:aaaa \\
    --hash=sha256:bbbb
Old-Style (>=1.0)
tool @ https://example.com/tool.whl#sha256=aa ; os_name == "posix"
plain
--index-url https://mirror.example.com/simple
-r dev/requirements.txt
-e ./local
git+https://example.com/repo.git
./wheel.whl
`
    expect(await list('requirements-dev.txt', text)).toEqual([
      'pypi requests >=2.31,<3',
      'pypi numpy ==1.26.4 = 1.26.4',
      'pypi Old-Style (>=1.0)',
      'pypi tool @ https://example.com/tool.whl#sha256=aa',
      'pypi plain',
      "unread: The option '--index-url https://mirror.example.com/simple' was not applied.",
      "unread: 'dev/requirements.txt', which it includes, was not read.",
      "unread: The option '-e ./local' was not applied.",
      "unread: 'git+https://example.com/repo.git' is no requirement of a package.",
      "unread: './wheel.whl' is no requirement of a package.",
    ])
    const both = await read({ 'a/requirements.txt': '-r ../requirements.txt\n', 'requirements.txt': 'six' })
    expect(both).toMatchObject({ packages: [{ name: 'six', path: 'requirements.txt' }], unread: [] })
  })

  it('are read from a pyproject.toml of the standard and of Poetry', async () => {
    const toml = `
[project]
dependencies = ["httpx>=0.27", "rich==13.7.1"]
[project.optional-dependencies]
plot = ["matplotlib"]
[dependency-groups]
dev = ["ruff", { include-group = "test" }]
[build-system]
requires = ["hatchling"]
[tool.poetry.dependencies]
python = "^3.12"
pydantic = "^2"
extra = { version = "1.0", optional = true }
own = { git = "https://example.com/own.git" }
[tool.poetry.group.test.dependencies]
pytest = "*"
`
    expect(await list('pyproject.toml', toml)).toEqual([
      'pypi httpx >=0.27',
      'pypi rich ==13.7.1 = 13.7.1',
      'pypi matplotlib optional',
      'pypi ruff excluded',
      'pypi hatchling excluded',
      'pypi pydantic ^2',
      'pypi extra 1.0 optional',
      'pypi own git+https://example.com/own.git',
      'pypi pytest * excluded',
    ])
  })

  it('are read from the metadata of Python scripts, and not from other scripts', async () => {
    const script = `#!/usr/bin/env -S uv run
# /// script
# requires-python = ">=3.12"
# dependencies = [
#   "pypdf[crypto]>=5",
#
#   "rich",
# ]
# ///
import pypdf
# dependencies = ["nothing"]
`
    expect(await list('scripts/fill.py', script)).toEqual(['pypi pypdf >=5', 'pypi rich'])
    expect(await list('scripts/fill.py', script.replaceAll('\n', '\r\n'))).toEqual(['pypi pypdf >=5', 'pypi rich'])
    expect(await list('plain.py', 'print("# /// script")\n')).toEqual([])
    expect(await list('open.py', '# /// script\n# dependencies = ["a"]\nimport a\n')).toEqual([
      'unread: Its block of metadata is not closed, or not valid.',
    ])
    expect(await list('damaged.py', '# /// script\n# dependencies = [\n# ///\n')).toEqual([
      expect.stringContaining('unread: It is not valid'),
    ])
  })

  it('are read from go.mod, Cargo.toml and deno.json', async () => {
    const goMod = `module example.com/own
go 1.24
require example.com/single v1.0.0
require(
  github.com/spf13/cobra v1.8.1 // indirect
)
replace github.com/spf13/cobra => ../cobra
`
    expect(await list('go.mod', goMod)).toEqual([
      'golang example.com/single v1.0.0 = v1.0.0',
      'golang github.com/spf13/cobra v1.8.1 = v1.8.1',
      "unread: The directive 'replace github.com/spf13/cobra' was not applied.",
    ])
    const cargo = `
[dependencies]
serde = { version = "1", optional = true }
renamed = { package = "real-name", version = "=0.3.1" }
near = { path = "../near" }
[dev-dependencies]
insta = "1"
[target.'cfg(unix)'.dependencies]
nix = "0.29"
`
    expect(await list('Cargo.toml', cargo)).toEqual([
      'cargo serde 1 optional',
      'cargo real-name =0.3.1 = 0.3.1',
      'cargo near path:../near',
      'cargo insta 1 excluded',
      'cargo nix 0.29',
    ])
    const deno = {
      imports: {
        '@std/path': 'jsr:@std/path@^1.0.0',
        chalk: 'npm:chalk@5.3.0/x',
        '@/': './src/',
        far: 'https://x.example',
      },
    }
    expect(await list('deno.json', JSON.stringify(deno))).toEqual([
      'jsr @std/path ^1.0.0',
      'npm chalk 5.3.0 = 5.3.0',
      "unread: The import of 'far' is from no registry.",
    ])
  })

  it.each([
    ['package.json', '{ "dependencies": ', 'It is not valid'],
    ['package.json', '[]', 'It is not valid'],
    ['package.json', '{ "dependencies": ["zod"] }', 'dependencies is not a table.'],
    ['package.json', '{ "dependencies": { "zod": 4 } }', 'The version of zod is not a text.'],
    ['package.json', '{ "dependencies": { "a b": "1" } }', "'a b' is not the name of a package."],
    ['package.json', `{ "dependencies": ${'['.repeat(1000)}${']'.repeat(1000)} }`, 'It is not valid'],
    ['package.json', ' '.repeat(600_000), 'It is larger than 512 KiB.'],
    ['pyproject.toml', '[project\n', 'It is not valid'],
    ['pyproject.toml', '[project]\ndependencies = "requests"', 'Its dependencies are not a list.'],
    ['pyproject.toml', '[project]\ndependencies = [1]', 'A dependency is not a text.'],
    ['pyproject.toml', `a = ${'['.repeat(5000)}`, 'It is not valid'],
    ['pyproject.toml', '#'.repeat(70_000), 'It is larger than 64 KiB.'],
    ['Cargo.toml', 'dependencies = 1', 'dependencies is not a table.'],
    ['Cargo.toml', '[target]\nx = 1', 'It is not valid'],
    ['deno.jsonc', '{ // imports\n}', 'It is not valid'],
    ['go.mod', 'require github.com/a/b', 'The version of github.com/a/b is not a text.'],
    ['uv.lock', 'version = 1', 'Files of this kind are not read.'],
    ['tools/Gemfile', "gem 'rails'", 'Files of this kind are not read.'],
    ['setup.py', 'setup()', 'Files of this kind are not read.'],
  ])('that cannot be read are named: %s %#', async (path, content, reason) => {
    const { packages, unread } = await read({ [path]: content })
    expect(packages).toEqual([])
    expect(unread).toEqual([{ path, reason: expect.stringContaining(reason) }])
  })

  it('are listed without credentials in their addresses', async () => {
    const lines = ['--index-url https://user:tok-en@pip.example/simple', 'git+https://tok-en@git.example/x/y']
    const { packages, unread } = await read({
      'requirements.txt': lines.join('\n'),
      'package.json': '{ "dependencies": { "own": "git+https://user:tok-en@git.example/x/y" } }',
    })
    expect(packages[0]!.range).toBe('git+https://git.example/x/y')
    expect(unread.map(({ reason }) => reason)).toEqual([
      "The option '--index-url https://pip.example/simple' was not applied.",
      "'git+https://git.example/x/y' is no requirement of a package.",
    ])
  })

  it('are found without reading lock files and files of other kinds', async () => {
    const files = ['yarn.lock', 'SKILL.md', 'a.bin'].map(toUnreadable)
    expect(await readDeclaredPackages(files)).toEqual({
      packages: [],
      unread: [{ path: 'yarn.lock', reason: 'Files of this kind are not read.' }],
    })
    await expect(readDeclaredPackages([toUnreadable('go.mod')])).rejects.toThrow('go.mod is read')
  })

  it('in a file that is not UTF-8 are reported as unread', async () => {
    const { unread } = await read({ 'package.json': Buffer.from([0x7b, 0xff, 0x7d]) })
    expect(unread).toEqual([{ path: 'package.json', reason: expect.stringContaining('It is not valid') }])
  })

  it('are listed up to a limit, and the rest is counted', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`package-${i}`, '1.0.0']))
    const wrong = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`${i} ${'\u0007\u202e'.repeat(100)}`, '1']),
    )
    const huge = { huge: `^1 ${'x'.repeat(100_000)}`, control: '1\u001b[2J\u0000' }
    const files = { 'package.json': JSON.stringify({ dependencies: { ...huge, ...many } }), 'wrong/package.json': '' }
    const { packages, unread } = await read(files)
    expect(packages).toHaveLength(1000)
    expect(packages[0]!.range.length).toBeLessThan(210)
    expect(packages[1]!.range).not.toMatch(/\p{Cc}/u)
    expect(unread.at(-1)).toEqual({ path: '', reason: '9002 more packages are not listed.' })
    const refused = await read({ 'package.json': JSON.stringify({ dependencies: wrong }).slice(0, 500_000) })
    expect(refused.unread).toHaveLength(1)
    const names = await read({
      'package.json': JSON.stringify({ dependencies: Object.fromEntries(Object.entries(wrong).slice(0, 150)) }),
    })
    expect(names.unread).toHaveLength(101)
    expect(JSON.stringify(names.unread)).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(names.unread.at(-1)!.reason).toBe('50 more parts were not read.')
  })

  it('of many large files are read only up to a total size', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`${i}/pyproject.toml`, `# ${'x'.repeat(60_000)}`]),
    )
    const { unread } = await read(files)
    expect(unread).toHaveLength(12)
    expect(unread[0]).toEqual({ path: '8/pyproject.toml', reason: 'The files before it are too large.' })
  })
})

const serial = (text: string) => readSbom(text).serialNumber

async function toBill(files: Record<string, string>) {
  const all = toFiles(files)
  const listed = all.map(({ path, bytes }) => ({ path, size: bytes.length, digest: toDigest(bytes) }))
  return {
    name: 'alice/pdf',
    version: '1.2.0',
    digest: toVersionDigest(all),
    files: listed,
    declared: await readDeclaredPackages(all),
  }
}

const files = {
  'SKILL.md': '# pdf',
  'package.json': '{ "dependencies": { "@acme/x": "1.0.0", "own": "file:./own" }, "devDependencies": { "six": "1" } }',
  'requirements.txt': 'Six_Pack>=1\n-e .\n',
  'fill.py': '# /// script\n# dependencies = ["six-pack"]\n# ///\n',
}

describe('a bill of materials', () => {
  it('has the skill, its files with hashes and its packages, and is valid', async () => {
    const bill = await toBill(files)
    const text = writeSkillSbom({ ...bill, license: 'MIT', publisher: 'alice' }, Date.UTC(2026, 0, 2))
    const document = readSbom(text)
    expect(document).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: {
        timestamp: '2026-01-02T00:00:00.000Z',
        component: {
          type: 'application',
          group: 'alice',
          name: 'pdf',
          version: '1.2.0',
          publisher: 'alice',
          purl: 'pkg:generic/alice/pdf@1.2.0',
          licenses: [{ license: { id: 'MIT' } }],
        },
      },
    })
    const byRef = new Map(document.components.map((one) => [one['bom-ref'], one]))
    expect([...byRef.keys()].toSorted()).toEqual([
      'npm:own file:./own',
      'pkg:generic/alice/pdf@1.2.0#SKILL.md',
      'pkg:generic/alice/pdf@1.2.0#fill.py',
      'pkg:generic/alice/pdf@1.2.0#package.json',
      'pkg:generic/alice/pdf@1.2.0#requirements.txt',
      'pkg:npm/%40acme/x@1.0.0',
      'pkg:npm/six',
      'pkg:pypi/six-pack',
    ])
    expect(byRef.get('pkg:generic/alice/pdf@1.2.0#SKILL.md')!.hashes).toEqual([
      { alg: 'SHA-256', content: toDigest('# pdf').slice(7) },
    ])
    expect(byRef.get('npm:own file:./own')!.purl).toBeUndefined()
    expect(byRef.get('pkg:npm/six')!.scope).toBe('excluded')
    expect(listFacts(byRef.get('pkg:pypi/six-pack')!, 'declared')).toEqual([
      'pkg:generic/alice/pdf@1.2.0#requirements.txt >=1',
      'pkg:generic/alice/pdf@1.2.0#fill.py any version',
    ])
    expect(listFacts(document.metadata.component, 'not-read')).toEqual([
      "requirements.txt: The option '-e .' was not applied.",
    ])
    const root = document.dependencies.find(({ ref }) => ref === 'pkg:generic/alice/pdf@1.2.0')
    expect(root!.dependsOn).toEqual([
      'pkg:npm/%40acme/x@1.0.0',
      'npm:own file:./own',
      'pkg:npm/six',
      'pkg:pypi/six-pack',
    ])
  })

  it.each([
    ['mit', { license: { id: 'MIT' } }],
    ['MIT OR (Apache-2.0 WITH LLVM-exception)', { expression: 'MIT OR (Apache-2.0 WITH LLVM-exception)' }],
    ['Proprietary. See LICENSE.txt', { license: { name: 'Proprietary. See LICENSE.txt' } }],
    ['(((((', { license: { name: '(((((' } }],
  ])('states the licence %s', async (license, stated) => {
    const document = readSbom(writeSkillSbom({ ...(await toBill(files)), license }))
    expect(document.metadata.component.licenses).toEqual([expect.objectContaining(stated)])
  })

  it('is the same for the same skill, and has another serial number after any change', async () => {
    const bill = await toBill(files)
    const text = writeSkillSbom(bill, 5)
    expect(writeSkillSbom(await toBill(files), 5)).toBe(text)
    expect(serial(text)).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const others = [
      await toBill({ ...files, 'SKILL.md': '# other' }),
      { ...bill, yanked: true },
      { ...bill, security: { verdict: 'caution' as const, score: 70, rulesVersion: '1' } },
    ].map((other) => serial(writeSkillSbom(other, 5)))
    expect(new Set([serial(text), ...others]).size).toBe(4)
  })

  it('of a project lists a package of several skills once, and names skills without content', async () => {
    const pdf = await toBill(files)
    const other = { ...(await toBill({ 'SKILL.md': '#', 'requirements.txt': 'six-pack' })), name: 'bob/other' }
    const gone = { name: 'bob/gone', version: '2.0.0', digest: pdf.digest, reason: 'Its content is not here.' }
    const document = readSbom(writeProjectSbom([pdf, other, gone]))
    const needs = new Map(document.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]))
    expect(needs.get('skills.lock')).toEqual([
      'pkg:generic/alice/pdf@1.2.0',
      'pkg:generic/bob/other@1.2.0',
      'pkg:generic/bob/gone@2.0.0',
    ])
    expect(needs.get('pkg:generic/bob/other@1.2.0')).toEqual(['pkg:pypi/six-pack'])
    const [first, , last] = document.components
    expect(first!.components!.map(({ name }) => name)).toEqual(Object.keys(files))
    expect(listFacts(last!, 'not-read')).toEqual(['Its content is not here.'])
    expect(document.components.filter(({ purl }) => purl === 'pkg:pypi/six-pack')).toHaveLength(1)
  })

  it('of a hostile skill is valid', async () => {
    const dependencies = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [i % 3 ? `p${i}` : `\u0000${i}"<`, `\u202e${'9'.repeat(i)}`]),
    )
    const hostile = {
      'SKILL.md': '#',
      'package.json': JSON.stringify({ dependencies: { ...dependencies, fs: '1', node_modules: '2', ABC: '3' } }),
      'a b/%23é #.py': '',
    }
    const bill = await toBill({
      ...hostile,
      'x/package.json': '{ "dependencies": { "__proto__": "1", "constructor": "2" } }',
    })
    const document = readSbom(writeSkillSbom({ ...bill, name: 'ünïcode name', description: '\u0000\ud800' }))
    expect(document.components.length).toBeGreaterThan(4)
  })
})
