/** How much a line matters, in the numbers of the API process's log. */
const levels = { info: 30, warn: 40, error: 50 }

/**
 * A line for the operator on stderr, in the form of the log's own lines: the gateway process has no logger, which would
 * cost it 20 MB, and its log has to work while there is no API process. At a terminal, the words alone.
 */
export function logLine(level: keyof typeof levels, msg: string): void {
  const line = process.stderr.isTTY
    ? msg
    : JSON.stringify({ level: levels[level], time: Date.now(), pid: process.pid, msg })
  process.stderr.write(`${line}\n`)
}
