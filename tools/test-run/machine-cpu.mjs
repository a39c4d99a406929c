import { readFileSync } from 'node:fs'

/**
 * CPU time that all programs of this machine have taken since its start, in s: the tests, the engine and its containers,
 * and whatever else runs. Undefined where there is no `/proc`.
 * @param {string} [stat] what `/proc/stat` says, in hundredths of a second (USER_HZ)
 * @returns {{ programs: number, kernel: number } | undefined}
 */
export function cpuOfMachine(stat = readStat()) {
  const [, line] = /^cpu +(.*)$/m.exec(stat) ?? []
  if (line === undefined) return undefined
  // proc_stat(5). What is spent for guests is in `user` already; time that a host took away (`steal`) is no work.
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(' ').map((each) => Number(each) / 100)
  return { programs: user + nice, kernel: system + irq + softirq }
}

/**
 * What a run of tests has taken, as its last line says it; undefined where nothing is known.
 * @param {ReturnType<typeof cpuOfMachine>} before @param {ReturnType<typeof cpuOfMachine>} after
 */
export function spentBetween(before, after) {
  if (!before || !after) return undefined
  const [programs, kernel] = [after.programs - before.programs, after.kernel - before.kernel]
  const share = Math.round((100 * kernel) / (programs + kernel))
  const all = Math.round(programs + kernel)
  return `${all} s of CPU time on this machine, engine and containers included; ${share} % of it in the kernel`
}

function readStat() {
  try {
    return readFileSync('/proc/stat', 'utf8')
  } catch {
    return ''
  }
}
