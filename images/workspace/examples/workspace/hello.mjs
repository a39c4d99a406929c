// Run me in the terminal:  node hello.mjs
// To see it in a browser, look at "Request" in the bar above: your own server would get the same headers.
import { env, version } from 'node:process'

const { BERTH_USER = 'sailor', BERTH_PUBLIC_URL = 'a container of its own' } = env

console.log(`Ahoy, ${BERTH_USER}!`)
console.log(`This is Node ${version}, at ${BERTH_PUBLIC_URL}`)
