/**
 * Says what is being done before it is done, and how long it took when that was more than a second: nobody should
 * look at a silent terminal and wonder.
 */
export async function step(sentence, work) {
  const start = Date.now();
  console.log(`${sentence} …`);
  const result = await work();
  const seconds = (Date.now() - start) / 1000;
  if (seconds > 1) console.log(`  done in ${seconds.toFixed(1)} s`);
  return result;
}
