"""The node for ROS 2: rclpy around `Node`. `ros2 run nhmech simulate` calls `main`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import NhmechError
from .start import ROBOT, find_type, import_ros, load_from_parameters, report

if TYPE_CHECKING:
    from .node import Node

REMEDY = "source the setup.bash of a ROS 2 installation first, such as /opt/ros/jazzy/setup.bash"
# parameters that every node of rclpy has
OWN = ("use_sim_time", "start_type_description_service")
OWN_GROUP = "qos_overrides."
ROBOT_MEANS = "Name of a shipped robot, or path of a URDF or xacro file."


def main() -> int:
    """Runs the node until ROS ends it. Returns the exit code."""
    try:
        rclpy = import_ros("rclpy", REMEDY)
    except NhmechError as error:
        return report(error)
    from rclpy.executors import ExternalShutdownException

    try:
        rclpy.init()
        ros = rclpy.create_node("nhmech", automatically_declare_parameters_from_overrides=True)
    except (RuntimeError, ValueError) as error:       # of --ros-args and of files of parameters
        return report(NhmechError(str(error)))
    try:
        # what takes long to import comes where Ctrl-C is caught
        from ..logs.messages import Messages
        from .node import Node

        vehicle, settings = load_from_parameters(given_parameters(ros))
        _declare(ros)
        node = Node(vehicle, settings, Messages(find_type), read_stamp, ros.get_logger().warning,
                    ros.get_fully_qualified_name())
        if rclpy.ok():            # Ctrl-C while equations were formed has ended ROS already
            connect(ros, node)
            rclpy.spin(ros)
    except (NhmechError, OSError) as error:
        return report(error)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()
    return 0


def given_parameters(ros: Any) -> dict[str, Any]:
    """The parameters set by files, launch files and the command line, without rclpy's own."""
    return {name: parameter.value for name, parameter in ros.get_parameters_by_prefix("").items()
            if name not in OWN and not name.startswith(OWN_GROUP)}


def _declare(ros: Any) -> None:
    """Declares what nobody set and describes all, so that `ros2 param list` and `describe` show
    them, and refuses changes: all are read at the start."""
    from .settings import descriptions, parameters

    answer = find_type("rcl_interfaces/msg/SetParametersResult")
    describe = find_type("rcl_interfaces/msg/ParameterDescriptor")
    known, texts = parameters() | {"robot": ROBOT}, descriptions() | {"robot": ROBOT_MEANS}
    for name, default in known.items():
        if not ros.has_parameter(name):
            ros.declare_parameter(name, list(default) if isinstance(default, tuple) else default)
        # where it was set, its type is that of the file: 1 for 1.0 is taken
        ros.set_descriptor(name, describe(description=texts[name], dynamic_typing=True))

    def refuse(changes: Any) -> Any:
        ours = [change.name for change in changes if change.name in known]
        reason = f"{', '.join(ours)}: read when the node starts; start it anew" if ours else ""
        return answer(successful=not ours, reason=reason)

    ros.add_on_set_parameters_callback(refuse)


def read_stamp(stamp: Any) -> float:
    """Time [s] of a header."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def connect(ros: Any, node: Node) -> None:
    """Makes the publishers, subscriptions, services and the timer of a node."""
    from rclpy.clock import Clock, ClockType
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

    from .node import KEPT

    def quality(depth: int, durability: Any) -> Any:
        return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=depth, durability=durability,
                          reliability=ReliabilityPolicy.RELIABLE)

    usual, kept = (quality(KEPT, DurabilityPolicy.VOLATILE),
                   quality(1, DurabilityPolicy.TRANSIENT_LOCAL))
    own = node.settings.publish_clock
    publishers = {topic: ros.create_publisher(find_type(kind), topic,
                                              kept if topic in node.latched else usual)
                  for topic, kind in node.outputs.items()}
    for topic, message in node.latched.items():
        publishers[topic].publish(message)

    def now() -> float:
        return time.monotonic() if own else ros.get_clock().now().nanoseconds * 1e-9

    def receive(take: Callable[[Any, float], object]) -> Callable[[Any], object]:
        return lambda message: take(message, now())

    def tick() -> None:
        t = now()
        if t == 0 and not own or not ros.context.ok():
            return      # the clock of somebody else has not begun, or Ctrl-C has ended ROS
        for topic, message in node.tick(t):
            publishers[topic].publish(message)

    for topic, (kind, take) in node.inputs.items():
        ros.create_subscription(find_type(kind), topic, receive(take), usual)
    _serve(ros, node)
    # of steady time: one of ROS time would wait for the clock that this node publishes
    ros.create_timer(1 / node.settings.publish_rate, tick,
                     clock=Clock(clock_type=ClockType.STEADY_TIME))
    ros.get_logger().info(node.greet(not own and now() == 0))


def _serve(ros: Any, node: Node) -> None:
    """Makes the services whose types are installed."""
    def fill(answer: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        def serve(request: Any, response: Any) -> Any:
            answer(request, response)
            return response
        return serve

    for name, (kind, answer) in node.services.items():
        try:
            ros.create_service(find_type(kind), name, fill(answer))
        except ImportError:
            ros.get_logger().info(f"{name} is left out: the package of {kind} is not installed")


if __name__ == "__main__":
    sys.exit(main())
