export const overview = {} as const
