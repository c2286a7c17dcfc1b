import { readFileSync } from 'node:fs'

/** Scans once, and then each text of a file as a SKILL.md, and writes the figures as JSON. */
const [textsPath = ''] = process.argv.slice(2)
const before = process.memoryUsage.rss()
const { scanFiles } = await import('@skillstead/scanner/rules')
scanFiles([{ path: 'SKILL.md', text: 'Reads PDF files.' }], 0)
const firstMs = performance.now()
const firstBytes = process.memoryUsage.rss() - before

const texts = JSON.parse(readFileSync(textsPath, 'utf8')) as string[]
const measure = () =>
  texts.map((text) => {
    const startMs = performance.now()
    scanFiles([{ path: 'SKILL.md', text }], 0)
    return performance.now() - startMs
  })
measure()
const startCpu = process.cpuUsage()
const ms = measure()
const { user, system } = process.cpuUsage(startCpu)
console.log(JSON.stringify({ firstMs, firstBytes, ms, cpuMs: (user + system) / 1000 }))
