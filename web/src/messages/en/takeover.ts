export const takeover = {} as const
