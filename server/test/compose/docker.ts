import { execFileSync } from 'node:child_process'

/** Runs a command of the engine. @param limit ms @throws with its output */
export function docker(limit: number, ...args: readonly string[]): void {
  execFileSync('docker', args, { stdio: 'pipe', timeout: limit })
}

/** What a quick command of the engine prints, trimmed. @throws with its output */
export const dockerSays = (...args: readonly string[]) =>
  execFileSync('docker', args, { encoding: 'utf8', stdio: 'pipe', timeout: 60_000 }).trim()

/** `docker compose`, or the older program. @throws when the machine has neither */
export function composeCommand(): readonly string[] {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...args] = command
    try {
      execFileSync(program, [...args, 'version'], { stdio: 'ignore' })
      return command
    } catch {
      // The other one.
    }
  }
  throw new Error('neither "docker compose" nor docker-compose is installed (Debian: apt-get install docker-compose)')
}
