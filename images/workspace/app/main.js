import { env, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { App } from './app.js'
import { seed } from './files/seed-home.js'

/** Grace period of open requests and terminals when the container is stopped, in ms; the engine kills after ten seconds. */
const farewellMs = 2_000

/** @param {string} path */
const besides = (path) => fileURLToPath(new URL(path, import.meta.url))

const { MODE: mode = 'workspace', HOME: home = '/home/berth' } = env
const port = Number(env.PORT || 8080)
if (mode !== 'workspace' && mode !== 'site') {
  console.error(`MODE is ${JSON.stringify(mode)}; it can be "workspace" or "site".`)
  exit(1)
}

await seed(home, besides(`../examples/${mode}`))
const app = new App({ mode, home, env, assets: besides('../assets') })
const server = app.createServer()
server.listen(port, () => console.log(`The ${mode} of ${home} listens on port ${port}.`))

for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT'])) {
  process.once(signal, () => {
    app.close()
    server.close(() => exit(0))
    setTimeout(() => exit(0), farewellMs).unref()
  })
}
