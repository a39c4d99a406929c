/** The texts for every user. The build leaves English alone of them here, and German alone in `german.ts`: a page loads one. */
export { dashboard } from '#/messages/dashboard.ts'
export { frame, takeover } from '#/messages/frame.ts'
export { signIn } from '#/messages/sign-in.ts'
