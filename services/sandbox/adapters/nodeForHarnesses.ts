/** Exact version of the npm package `node` that harnesses from npm run on: several need more than Node 20. */
export const nodeForHarnesses = '24.21.0';
