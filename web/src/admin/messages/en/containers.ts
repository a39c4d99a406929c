export const containers = {} as const
