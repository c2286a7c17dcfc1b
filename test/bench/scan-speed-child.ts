import { readFileSync } from 'node:fs'

/** Scans once, and then each text of a file as a SKILL.md, and writes the figures as JSON. */
const [textsPath = ''] = process.argv.slice(2)
const readCpuMs = (since?: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}
const before = process.memoryUsage.rss()
const { scanFiles } = await import('@skillstead/scanner/rules')
scanFiles([{ path: 'SKILL.md', text: 'Reads PDF files.' }], 0)
const firstMs = readCpuMs()
const firstBytes = process.memoryUsage.rss() - before

const texts = JSON.parse(readFileSync(textsPath, 'utf8')) as string[]
const measure = () =>
  texts.map((text) => {
    const start = process.cpuUsage()
    scanFiles([{ path: 'SKILL.md', text }], 0)
    return readCpuMs(start)
  })
measure()
const startCpu = process.cpuUsage()
const ms = measure()
console.log(JSON.stringify({ firstMs, firstBytes, ms, cpuMs: readCpuMs(startCpu) }))
