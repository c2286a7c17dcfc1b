// Talks to electron-service.ts as the main process of Electron does, without Electron. Run it in an empty folder with
//   node --conditions=source CLONE/examples/embedding/electron.ts
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

// In Electron: utilityProcess.fork(path, [join(app.getPath('userData'), 'skills.db')]), and postMessage for send.
const service = fork(fileURLToPath(new URL('./electron-service.ts', import.meta.url)), ['skills.db'])
service.send({ id: 1, search: 'clean csv' })
const [response] = await once(service, 'message')
console.log(JSON.stringify(response))

service.send({ id: 2 })
await once(service, 'exit')
console.log('the service ended')
