// The registry as a utility process of Electron. Started with Node's `fork`, it talks over `process.send` instead.
import { fileURLToPath } from 'node:url'
import { openSkills } from '@skillstead/core'

interface ParentPort {
  on(event: 'message', listener: (message: { data: Request }) => void): void
  postMessage(message: unknown): void
}
interface Request {
  readonly id: number
  readonly search?: string
}

const skills = await openSkills({ path: process.argv[2]!, as: 'desktop' })
await skills.importFolder(fileURLToPath(new URL('../skills', import.meta.url)))

async function respond({ id, search }: Request, send: (message: unknown) => void): Promise<void> {
  if (search === undefined) {
    await skills.close()
    process.exit()
  }
  try {
    const { skills: found } = await skills.search(search, { limit: 5 })
    send({ id, found: found.map(({ fullName }) => fullName) })
  } catch (error) {
    send({ id, error: String(error) })
  }
}

const { parentPort } = process as NodeJS.Process & { parentPort?: ParentPort }
if (parentPort) parentPort.on('message', ({ data }) => respond(data, (message) => parentPort.postMessage(message)))
else process.on('message', (request: Request) => respond(request, (message) => process.send?.(message)))
