export { createClient, type ClientOptions } from './create-client.ts'
