package rocky.spark;

import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;

import org.apache.spark.SparkContext;
import org.apache.spark.status.AppStatusStore;
import org.apache.spark.status.api.v1.StageData;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** What the stages of the jobs of one tag used, in one answer. */
public final class StageFigures {
  private static final double[] LARGEST = {1.0};

  private StageFigures() {
  }

  /**
   * A line for each attempt of each stage, when everything that Spark has to say has arrived.
   *
   * Status, tasks, complete, failed and killed ones, run time, CPU time, bytes and records read,
   * bytes shuffled and spilled, peak memory summed over tasks, and of the task that used most. A
   * stage that Spark has forgotten is a line without anything.
   */
  public static String told(SparkContext context, String tag, long patience)
      throws TimeoutException {
    context.listenerBus().waitUntilEmpty(patience);
    AppStatusStore store = context.statusStore();
    TreeSet<Integer> stages = new TreeSet<>();
    for (int job : context.statusTracker().getJobIdsForTag(tag)) {
      for (Object stage : CollectionConverters.asJava(store.job(job).stageIds())) {
        stages.add((Integer) stage);
      }
    }
    StringBuilder told = new StringBuilder();
    for (int stage : stages) {
      Seq<StageData> attempts = store.stageData(stage, false, List.of(), true, LARGEST);
      if (attempts.isEmpty()) {
        told.append('\n');
      }
      for (StageData attempt : CollectionConverters.asJava(attempts)) {
        tell(told, attempt);
      }
    }
    return told.toString();
  }

  private static void tell(StringBuilder told, StageData attempt) {
    told.append(attempt.status());
    long[] figures = {
      attempt.numTasks(), attempt.numCompleteTasks(), attempt.numFailedTasks(),
      attempt.numKilledTasks(), attempt.executorRunTime(), attempt.executorCpuTime(),
      attempt.inputBytes(), attempt.inputRecords(), attempt.shuffleWriteBytes(),
      attempt.diskBytesSpilled(), attempt.peakExecutionMemory(),
    };
    for (long figure : figures) {
      told.append(' ').append(figure);
    }
    Option<org.apache.spark.status.api.v1.TaskMetricDistributions> spread =
        attempt.taskMetricsDistributions();
    if (spread.isDefined()) {
      for (Object peak : CollectionConverters.asJava(spread.get().peakExecutionMemory())) {
        told.append(' ').append(((Double) peak).longValue());
      }
    }
    told.append('\n');
  }
}
