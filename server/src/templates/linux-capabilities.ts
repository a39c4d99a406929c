/** What Linux knows (capabilities(7), 6.x), without the prefix. `ALL` is none of them: it would undo that all are dropped. */
const known = new Set(
  `AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER
  FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE
  NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE
  SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`.split(/\s+/),
)

/** Why a template cannot have this capability, in words that follow the field's name; undefined when it can. */
export function capabilityProblem(name: string): string | undefined {
  if (/^(CAP_)?ALL$/i.test(name)) return 'cannot be ALL: name those that the app needs'
  const isKnown = known.has(name.toUpperCase().replace(/^CAP_/, ''))
  return isKnown ? undefined : `has "${name}", which is no capability of Linux; they look like SYS_PTRACE`
}
