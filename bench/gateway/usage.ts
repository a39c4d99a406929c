import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks of /proc/{pid}/stat; Linux shows 100 per second whatever the kernel's own rate. */
const microsecondsPerTick = 10_000

/** CPU time of a program and its children, user and system, in microseconds. Resolution 10 ms. */
export function cpuTime(pid: number): number {
  return family(pid).reduce((sum, each) => sum + ticks(each) * microsecondsPerTick, 0)
}

/** As `cpuTime`, with a resolution of nanoseconds: of the threads that there are, so that threads must not end between two looks. */
export function preciseCpuTime(pid: number): number {
  return family(pid).reduce((sum, each) => sum + threadTime(each) / 1_000, 0)
}

/** Resident memory of a program and its children, in kB. Shared pages are counted in each. */
export function residentSize(pid: number): number {
  return family(pid).reduce((sum, each) => sum + fromStatus(each, 'VmRSS'), 0)
}

function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}

/** In ns: time that its threads have run. */
function threadTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce(
    (sum, id) => sum + Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
    0,
  )
}

function ticks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may contain any character; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

function fromStatus(pid: number, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}
