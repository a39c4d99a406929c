import path from 'node:path'

/** Environment of a program, as `npm start` and `./berth` give it: with a compile cache it starts with half the CPU time. */
export const compileCache = { NODE_COMPILE_CACHE: path.resolve(import.meta.dirname, '../../../.berth/compile-cache') }
