/**
 * Answers `idle_probe: code-server` of Berth: `GET` says when the container was used last, in ms since 1970, by a person at a page
 * (whose page says so by `POST`, from inside of the container alone), or by a command in a terminal, which is use while it runs.
 */
const { readdirSync, readFileSync } = require('node:fs')
const { createServer } = require('node:http')

exports.port = 8479

/** Programs that wait for their person: one of them in the foreground is no command. */
const waiting = new Set([
  'ash',
  'bash',
  'byobu',
  'dash',
  'fish',
  'ksh',
  'nu',
  'pwsh',
  'screen',
  'sh',
  'su',
  'sudo',
  'tmux: client',
  'zsh',
])
/** Major number of pseudo-terminals. Source: Documentation/admin-guide/devices.txt of Linux. */
const firstPseudoTerminal = 136
const lastPseudoTerminal = 143

/** Fields of `/proc/{pid}/stat`, of which those behind the name have no space in them; undefined when it has ended. */
function processOf(pid) {
  try {
    const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    const [, , , session, terminal, foreground] = rest.split(' ')
    return { name, session, major: (Number(terminal) >> 8) & 0xfff, foreground }
  } catch {
    return undefined
  }
}

/** Whether a command runs in the foreground of a terminal. */
function isCommandRunning() {
  return readdirSync('/proc').some((pid) => {
    const leader = /^\d+$/.test(pid) ? processOf(pid) : undefined
    if (!leader || leader.session !== pid || leader.major < firstPseudoTerminal || leader.major > lastPseudoTerminal)
      return false
    const command = leader.foreground === pid ? undefined : processOf(leader.foreground)
    return command !== undefined && !waiting.has(command.name)
  })
}

if (require.main === module) {
  let usedAt = Date.now()
  const note = () => {
    if (isCommandRunning()) usedAt = Date.now()
  }
  // A command that ended between two questions counts as well.
  setInterval(note, 10_000)
  createServer((asked, answer) => {
    if (asked.method === 'POST' && asked.socket.remoteAddress === '127.0.0.1') usedAt = Date.now()
    note()
    answer.setHeader('content-type', 'application/json')
    answer.end(JSON.stringify({ usedAt }))
  })
    .on('error', () => process.exit(0))
    .listen(exports.port, '0.0.0.0')
}
